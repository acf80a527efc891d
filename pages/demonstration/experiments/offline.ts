// The experiment that reads a proof without the service: the token by its public key, the session by what the browser lets a script see.
import { cookieSentBy } from '../proof-parts.ts'
import type { World } from '../world.ts'
import type { Experiment, Fact, Measured } from './experiment.ts'
import { presentIn, publicKeys, signIn } from './lanes.ts'
import { claimsOf, cryptoSupport, isSignatureValid } from './signature.ts'

export const offline: Experiment = {
  id: 'offline',
  async run(world) {
    await signIn(world)
    return { session: await readCookie(world), token: await readToken(world) }
  },
}

/** The page cannot read the cookie, but the record of a request has it. Claims would need three parts, and a signature among them. */
async function readCookie(world: World): Promise<Measured> {
  const { exchange } = await presentIn(world, 'session')
  const pair = cookieSentBy(exchange, world.visit?.cookieName ?? '') ?? ''
  const secret = pair.slice(pair.indexOf('=') + 1)
  const hasClaims = secret.split('.').length === 3 && claimsOf(secret) !== null
  // Results are kept in the tab, and the whole number is the proof.
  const read: Fact = { label: 'cookieContent', value: `${secret.slice(0, 45)}…` }
  const lacks: Fact[] = hasClaims ? [] : [{ label: 'cookieLacksClaims' }]
  return { answer: hasClaims ? 'yes' : 'no', facts: [read, ...lacks] }
}

/** The server numbers all requests of this visitor, so the next number says how many the check sent. */
async function readToken(world: World): Promise<Measured> {
  const keys = await publicKeys(world)
  const { token = '' } = world
  const claims = claimsOf(token)
  const read: Fact[] = claims === null ? [] : [{ label: 'claims', value: readable(claims) }]
  const support = await cryptoSupport()
  if (support !== 'supported')
    return { answer: null, facts: [...read, { label: support === 'no-ed25519' ? 'noEd25519' : 'noWebCrypto' }] }
  const isValid = await isSignatureValid(token, keys.data)
  const next = await presentIn(world, 'token')
  return {
    answer: isValid && claims !== null ? 'yes' : 'no',
    facts: [
      ...read,
      { label: isValid ? 'signatureValid' : 'signatureInvalid' },
      { label: 'requests', value: String(next.exchange.n - keys.exchange.n - 1) },
    ],
  }
}

function readable({ preferred_username, iat, exp }: Record<string, unknown>): string {
  const time = (seconds: unknown) => new Date(Number(seconds) * 1000).toISOString()
  return `preferred_username: ${preferred_username}, iat: ${time(iat)}, exp: ${time(exp)}`
}
