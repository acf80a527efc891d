// The inbox of the signed-in user as a React hook, kept right by the live stream. The proof is a token from the application's own
// server.
import { createCarillon } from 'carillon-client'
import { useEffect, useState } from 'react'
import { keep } from './kept-list.js'

const carillon = createCarillon({
  baseUrl: document.querySelector('meta[name=carillon-url]').content,
  auth: tokenFromServer,
})

/** The client calls this before a token ends, so the stream goes on for as long as the user is signed in to the application. */
async function tokenFromServer() {
  const response = await fetch('/bell-token', { method: 'POST' })
  if (!response.ok) throw new Error('You are not signed in')
  const { token } = await response.json()
  return token
}

/** The newest notifications and the unread count, now and after each change. */
export function useInbox() {
  const [inbox, setInbox] = useState({ items: [], unread: 0 })
  useEffect(() => {
    const ending = new AbortController()
    follow(setInbox, ending.signal).catch((error) => {
      if (!ending.signal.aborted) console.error(error)
    })
    return () => ending.abort()
  }, [])
  return inbox
}

async function follow(show, signal) {
  let list = await carillon.inbox.list({ signal })
  show(list)
  for await (const event of carillon.inbox.subscribe({ since: list.version, signal })) {
    list = keep(list, event) ?? (await carillon.inbox.list({ signal }))
    show(list)
  }
}

/** Marks what is on the screen as read. What arrived since has a higher `seq`, and stays unread. */
export function markAllRead(throughSeq) {
  return carillon.inbox.readAll({ throughSeq })
}
