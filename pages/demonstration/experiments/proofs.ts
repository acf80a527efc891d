// Six experiments on the life of a proof: a copy after the sign-out, a revocation, a changed character, a restart, time, and a database
// that is gone.
import type { World } from '../world.ts'
import type { Experiment, Measurements, Stage } from './experiment.ts'
import { withOtherName } from './forgery.ts'
import { joined, present, publicKeys, sentInBoth, signedIn } from './lanes.ts'
import { claimsOf, isSignatureValid } from './signature.ts'

/** Longer than an access token lives (15 minutes), and longer than a session may be unused (7 days). */
const tokenIsOverSeconds = 16 * 60
const sessionIsOverSeconds = 8 * 86_400
const outageSeconds = 10

export const replay: Experiment = {
  id: 'replay',
  async run(world) {
    const before = await signedIn(world)
    const { token = '' } = world
    // The page cannot read the cookie, so the server keeps the copy.
    await world.control('copy-cookie')
    const out = await sentInBoth(world, 'signOut', { method: 'POST', path: '/logout' })
    await world.control('put-cookie')
    const measured = await present(world, 'withCopy', token)
    return withSignature(world, joined(joined(before, out), measured), token)
  },
}

export const revokeAll: Experiment = {
  id: 'revokeAll',
  async run(world) {
    const before = await signedIn(world)
    await world.control('revoke')
    const measured = await present(world, 'after')
    return withSignature(world, joined(before, measured), world.token)
  },
}

export const changeCharacter: Experiment = {
  id: 'changeCharacter',
  async run(world) {
    const before = await signedIn(world)
    await world.control('change-cookie')
    const changed = withOtherName(world.token ?? '')
    const measured = await present(world, 'withChange', changed)
    measured.token.facts.unshift({ label: 'changedName', value: String(claimsOf(changed)?.preferred_username) })
    return withSignature(world, joined(before, measured), changed)
  },
}

export const restart: Experiment = {
  id: 'restart',
  async run(world) {
    const before = await signedIn(world)
    await world.control('restart')
    return joined(before, await present(world, 'after'))
  },
}

export const expiry: Experiment = {
  id: 'expiry',
  async run(world) {
    const before = await signedIn(world)
    await world.control('advance', { seconds: tokenIsOverSeconds })
    const measured = joined(before, await present(world, 'minutesLater'))
    await world.control('advance', { seconds: sessionIsOverSeconds })
    return joined(measured, await present(world, 'daysLater'), measured)
  },
}

export const outage: Experiment = {
  id: 'outage',
  async run(world, stage) {
    const before = await signedIn(world)
    await world.control('outage', { seconds: outageSeconds })
    const endsAt = performance.now() + outageSeconds * 1000
    const during = joined(before, await present(world, 'during'))
    // The list is in the database, whatever the proof is.
    const list = await sentInBoth(world, 'duringList', { method: 'GET', path: '/api/notifications' })
    const measured = joined(during, list, during)
    await untilOver(stage, endsAt)
    return joined(measured, await present(world, 'after'), measured)
  },
}

/** Adds what another service would say that has the public key and nothing else; nothing if this browser cannot check it. */
async function withSignature(world: World, measured: Measurements, token = ''): Promise<Measurements> {
  const { data } = await publicKeys(world)
  const result = await isSignatureValid(token, data)
  if (result !== 'cannot-check') measured.token.facts.push({ label: result ? 'signatureValid' : 'signatureInvalid' })
  return measured
}

async function untilOver(stage: Stage, endsAt: number): Promise<void> {
  for (let left = endsAt - performance.now(); left > 0; left = endsAt - performance.now()) {
    stage.countDown(Math.ceil(left / 1000))
    await new Promise((resolve) => setTimeout(resolve, Math.min(left, 1000)))
  }
}
