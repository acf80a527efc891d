// The inbox of the signed-in user, kept right by the live stream. The proof is a token from the shop's own server.
import { createCarillon } from 'carillon-client'
import { keep } from './kept-list.js'

const carillon = createCarillon({ baseUrl: '/bell/', auth: tokenFromShop })

/** The client calls this before a token ends, so the stream goes on for as long as the user is signed in to the shop. */
async function tokenFromShop() {
  const response = await fetch('/bell-token', { method: 'POST' })
  if (!response.ok) throw new Error('You are not signed in to the shop')
  const { token } = await response.json()
  return token
}

/** Calls `show` with the newest notifications and the unread count, now and after each change. */
export async function followInbox(show) {
  let list = await carillon.inbox.list()
  show(list)
  for await (const event of carillon.inbox.subscribe({ since: list.version })) {
    list = keep(list, event) ?? (await carillon.inbox.list())
    show(list)
  }
}

/** Marks what is on the screen as read. What arrived since has a higher `seq`, and stays unread. */
export function markAllRead(throughSeq) {
  return carillon.inbox.readAll({ throughSeq })
}
