// One tab of an inbox holds a Web Lock and leads (leader.ts). The others follow (follower.ts).
import type { Me, Position } from '../../transport/types.ts'
import { Follower, leaderIsSilent } from './follower.ts'
import { Leader } from './leader.ts'
import { formatVersion, type Tab } from './messages.ts'
import { TabLog } from './tab-log.ts'

/** Milliseconds. After a longer wait for the lock, another user may have signed in. */
const maxNameAgeMs = 1_000

type Joining = Omit<Tab, 'proof' | 'namedAt' | 'channel'>

/** Each tab goes on from its position, so a change of leader neither loses nor repeats an event. */
export function openTogether(
  shared: Omit<Joining, 'log'>,
  since: Position | undefined,
  signal: AbortSignal,
) {
  const log = new TabLog(shared.functions, since)
  takePart({ ...shared, log }, signal).catch((error) => log.end(error))
  return log.read(signal)
}

async function takePart(tab: Joining, signal: AbortSignal): Promise<void> {
  const { requests, timing, log, watcher } = tab
  const { delayAfter, pause } = tab.functions
  for (let outcome: Outcome = 'moved'; outcome === 'moved'; ) {
    if (log.moves > 1) await pause(delayAfter(undefined, log.moves - 2, timing), signal)
    const { user, proof } = await nameOf(tab, signal)
    watcher.onUser?.(user.id)
    signal.throwIfAborted()
    const channel = new BroadcastChannel(
      `carillon ${formatVersion} ${proof} ${requests.base} ${user.id}`,
    )
    const member = { ...tab, proof, channel, namedAt: performance.now() }
    log.last = undefined
    try {
      do outcome = await takeTurn(member, outcome === 'silent', signal)
      while (outcome === 'silent' || outcome === 'deposed')
    } finally {
      channel.close()
    }
  }
}

/** `moved`: the stream is another inbox's. `deposed`: another tab stole the lock. */
type Outcome = 'ended' | 'moved' | 'silent' | 'deposed'

function takeTurn(tab: Tab, isStealing: boolean, signal: AbortSignal): Promise<Outcome> {
  const { following, inboxTagOf } = tab.functions
  return following([signal], async (turn) => {
    const follower = new Follower(tab, turn)
    const lead = async () => {
      follower.stop()
      turn.signal.throwIfAborted()
      // Without an inbox tag, the tab could not notice another user's stream.
      if (performance.now() - tab.namedAt > maxNameAgeMs && !inboxTagOf(tab.log.position))
        return 'moved'
      return new Leader(tab).lead(turn.signal)
    }
    try {
      const how = isStealing ? { steal: true } : { signal: turn.signal }
      return await navigator.locks.request(tab.channel.name, how, lead)
    } catch (error) {
      if (turn.signal.reason === leaderIsSilent) return 'silent'
      turn.signal.throwIfAborted()
      // A frame without an origin may not lock, so the tab opens its own stream.
      if ((error as Error).name !== 'AbortError') return await lead()
      turn.abort()
      return 'deposed'
    } finally {
      follower.stop()
    }
  })
}

/** Scripts cannot read session cookies, which all tabs share. So the server names the user. */
async function nameOf(
  { requests, timing, watcher, functions }: Joining,
  signal: AbortSignal,
): Promise<Me> {
  const { delayAfter, isFinal, pause, signedOut } = functions
  for (let failures = 0; ; failures++)
    try {
      const me = await requests.me({ signal, timeoutMs: timing.connectMs })
      if (me) return me
      throw signedOut()
    } catch (error) {
      if (isFinal(error)) throw error
      watcher.onLost?.(error)
      await pause(delayAfter(error, failures, timing), signal)
    }
}
