// The peer that an application would write for itself: Express, express-session and knex. Its program is programs/express.js.
import { fillOwnTable, ownWork, producer, startProgram, usernames } from './own-table.ts'
import { cookieOf, type Peer, type PeerOn, type PeerWork, password, send } from './peer.ts'

export const express: Peer = {
  name: 'Express + express-session + knex',
  folder: 'express',
  packages: {
    'connect-session-knex': '5.0.0',
    express: '5.3.0',
    'express-session': '1.19.0',
    knex: '3.3.0',
    pg: '8.23.0',
  },
  start,
  prepare,
}

function start(on: PeerOn) {
  return startProgram('express.js', on)
}

async function prepare(on: PeerOn): Promise<PeerWork> {
  const { port, stop } = await start(on)
  const users = usernames(on.users)
  const cookies: string[] = []
  for (const username of users) {
    await send(port, { method: 'POST', path: '/users', body: { username, password }, proof: producer })
    cookies.push(cookieOf(await send(port, { method: 'POST', path: '/login', body: { username, password } })))
  }
  await stop()
  await fillOwnTable(on)
  return ownWork(cookies, users)
}
