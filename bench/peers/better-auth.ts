// The peer better-auth, with a list beside it. Its program is programs/better-auth.js.
import { fillOwnTable, ownWork, startProgram, usernames } from './own-table.ts'
import { cookieOf, type Peer, type PeerOn, type PeerWork, password, send } from './peer.ts'

export const betterAuth: Peer = {
  name: 'better-auth',
  folder: 'better-auth',
  packages: { 'better-auth': '1.7.25', pg: '8.23.0' },
  start,
  prepare,
}

function start(on: PeerOn) {
  return startProgram('better-auth.js', on)
}

async function prepare(on: PeerOn): Promise<PeerWork> {
  const { port, stop } = await start(on)
  const users = usernames(on.users)
  const cookies: string[] = []
  for (const email of users) {
    const body = { email, password, name: email }
    cookies.push(cookieOf(await send(port, { method: 'POST', path: '/api/auth/sign-up/email', body })))
  }
  await stop()
  await fillOwnTable(on)
  return ownWork(cookies, users)
}
