// Lists per second by foreign tokens (RS256), compared with lists by access tokens of the service, for the same users. Each token was
// verified before, so both come from a cache.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type CryptoKey, exportJWK, generateKeyPair, SignJWT } from 'jose'
import { asLoad, isDisturbed, rate, requestsOf, saturation } from '../floors/compare.ts'
import { Loader } from '../load/loader.ts'
import { inTurns, ratios } from '../report/rounds.ts'
import type { Scenario } from '../report/scenario.ts'
import { asRatio } from '../report/table.ts'
import { fillInboxes, prepareReaders, type Reader, withDatabase } from '../setup/inboxes.ts'
import { startService } from '../setup/service.ts'
import { firstPage } from './list.ts'

const connections = 64
const proofs = 10
const maxDifference = 0.15

export const foreignTokens: Scenario = {
  name: 'foreign-tokens',
  question:
    'first 20 of 100 notifications, 1,000 foreign tokens of 100 users, compared with access tokens of the service',
  async run(bench) {
    const { dir, rounds, seconds, progress } = bench
    const { readers } = await prepareReaders(dir, { users: 100, proofs })
    await fillInboxes(dir, { userIds: readers.map(({ userId }) => userId), count: 100 })
    await withDatabase(dir, (database) => database.exec('update user set external_id = id'))
    const issuer = bench.using(await startIssuer())
    const service = bench.using(await startService({ dir, env: { CARILLON_ISSUERS: issuer.setting } }))
    const loader = bench.using(new Loader())
    const foreign = await Promise.all(readers.map((reader) => issuer.readerOf(reader)))
    const load = (requests: readonly string[]) => () =>
      loader.measure(service.process, {
        port: service.port,
        connections,
        requests,
        status: 200,
        staysAwake: true,
        seconds,
        warmUpSeconds: seconds / 2,
      })
    const all = await inTurns({
      rounds,
      progress,
      isDisturbed,
      contenders: {
        own: load(requestsOf(readers, 'tokens', firstPage)),
        foreign: load(requestsOf(foreign, 'tokens', firstPage)),
      },
    })
    const ratio = ratios(all.foreign.map(rate), all.own.map(rate))
    return {
      rows: [
        {
          what: 'list, inbox unchanged, foreign token from the cache',
          measured: asLoad(all.foreign),
          floor: asLoad(all.own),
          ratio: asRatio(ratio),
          target: `${1 - maxDifference} to ${1 + maxDifference}`,
          met: Math.abs(ratio.median - 1) <= maxDifference,
        },
      ],
      notes: [
        `${connections} connections; the floor is the same list of the same users by access tokens of the service.`,
        saturation(all),
      ],
    }
  },
}

/** Publishes one key. Its users are those of the service, by plain ids. */
async function startIssuer() {
  const { publicKey, privateKey } = await generateKeyPair('RS256')
  const keySet = JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), kid: 'bench', alg: 'RS256', use: 'sig' }] })
  const server = createServer((_, response) => response.end(keySet))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const jwks = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  return {
    setting: JSON.stringify([{ issuer: 'bench', audience: 'bell', algorithms: ['RS256'], jwks }]),
    async readerOf(reader: Reader): Promise<Reader> {
      const tokens = Array.from({ length: proofs }, (_, n) => tokenOf(reader.userId, { id: `${n}`, privateKey }))
      return { ...reader, tokens: await Promise.all(tokens) }
    },
    async stop(): Promise<void> {
      server.close()
      server.closeAllConnections()
    },
  }
}

async function tokenOf(userId: string, { id, privateKey }: { id: string; privateKey: CryptoKey }): Promise<string> {
  const token = await new SignJWT({ jti: id, sub: userId })
    .setProtectedHeader({ alg: 'RS256', kid: 'bench', typ: 'at+jwt' })
    .setIssuer('bench')
    .setAudience('bell')
    .setIssuedAt()
    .setExpirationTime('4h')
    .sign(privateKey)
  return `Authorization: Bearer ${token}`
}
