import { existsSync } from 'node:fs'
import { quoted } from '../basics/control-characters.ts'
import { Sealing, type Secrets } from '../basics/secrets.ts'
import { openPrivate, sealedWithAnother } from '../tokens/key-material.ts'
import {
  readSecret,
  type Sealed,
  sealedAdvice,
  secretFileOf,
  secretsIn,
} from '../tokens/sealing-secret.ts'
import type { SigningKey } from '../tokens/signing-keys.store.ts'
import { rightsOf } from './file-mode.ts'
import { type Finding, fault, faultOf, ok } from './finding.ts'
import type { Examined, SealedFactors } from './store/findings.ts'

const check = 'secret'
const lost = 'lost for good? docs/operations/keys-and-secrets.md, "A secret that is lost"'

type Settings = Sealed & Omit<Examined, 'findings'> & { secretFile?: string | undefined }

export async function examineSecret(settings: Settings): Promise<Finding[]> {
  const { database, secret, secretFile, signingKeys, sealedFactors } = settings
  const beside =
    secret === undefined && database.engine === 'sqlite' ? secretFileOf(database.path) : undefined
  if (secret === undefined && beside === undefined) return [notSet(signingKeys)]
  const file = beside ?? secretFile
  if (file !== undefined && !existsSync(file)) return missing(file, signingKeys)
  try {
    const secrets = secretsIn(settings) ?? { current: readSecret(file as string) }
    const unopened = factorsNotOpened(secrets, sealedFactors)
    return [
      await opens(secrets, signingKeys),
      ...unopened,
      ...(file === undefined ? [] : rightsOf(check, file, 0o400)),
    ]
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EACCES')
      return [faultOf(check, error, 'set the right one')]
    return [
      fault(check, {
        found: `${file} cannot be read`,
        change: `chown $(id -un) ${quoted(file as string)}`,
      }),
    ]
  }
}

function notSet(signingKeys: SigningKey[] = []): Finding {
  const found = 'none is set, and a PostgreSQL database has no folder to keep one in'
  const howToMake = 'CARILLON_SECRET_FILE=/a/file/with/the/output/of/openssl-rand-hex-32'
  return fault(check, { found, change: signingKeys.length > 0 ? sealedAdvice : howToMake })
}

function missing(file: string, signingKeys: SigningKey[] | undefined): Finding[] {
  if (signingKeys === undefined) return []
  if (signingKeys.length === 0) return [ok(check, `the first start creates ${file}`)]
  const found = `${file} is gone, and with it the secret of the signing keys`
  return [
    fault(check, {
      found,
      change: `put ${quoted(file)} back (backups do not contain it); ${lost}`,
    }),
  ]
}

/** A sealed secret's header names its key, so nothing is opened. */
function factorsNotOpened(
  { current, previous = current }: Secrets,
  sealedFactors: SealedFactors = [],
): Finding[] {
  const known = [current, previous].map(
    (secret) => new Sealing({ current: secret }).prefix('factors').split('.')[0],
  )
  const unopened = sealedFactors.filter(({ header }) => !known.includes(header))
  const count = unopened.reduce((sum, each) => sum + each.count, 0)
  if (count === 0) return []
  const found = `second factors that it does not open, whose codes are refused: ${count}`
  const change =
    'set CARILLON_SECRET_PREVIOUS to the secret that sealed them, then npx carillon secret rotate; if it is lost: npx carillon user factors reset --unreadable'
  return [fault(check, { found, change })]
}

async function opens(secrets: Secrets, signingKeys: SigningKey[] | undefined): Promise<Finding> {
  const sealed = signingKeys?.filter(({ retiredAt }) => retiredAt === null) ?? []
  if (sealed.length === 0) return ok(check, 'it exists')
  const sealing = new Sealing(secrets)
  const opened = await Promise.all(sealed.map((key) => openPrivate(key, sealing)))
  if (opened.includes(undefined)) throw sealedWithAnother()
  if (opened.every((key) => key?.secret === 'current'))
    return ok(check, 'it opens the signing keys')
  return ok(
    check,
    'the previous secret opens the signing keys, and is needed until: npx carillon secret rotate',
  )
}
