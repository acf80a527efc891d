// The entry point: defines <carillon-bell> and <carillon-inbox>. If the script is loaded twice, the first definition stays.
import type { Notification } from 'carillon-client'
import { CarillonBell } from './bell/carillon-bell.ts'
import { CarillonInbox } from './inbox/carillon-inbox.ts'

const elements = { 'carillon-inbox': CarillonInbox, 'carillon-bell': CarillonBell }
for (const [name, element] of Object.entries(elements))
  if (!customElements.get(name)) customElements.define(name, element)

declare global {
  interface HTMLElementTagNameMap {
    'carillon-bell': CarillonBell
    'carillon-inbox': CarillonInbox
  }
  interface HTMLElementEventMap {
    'carillon-open': CustomEvent<Notification>
    'carillon-change': CustomEvent<{ unread: number }>
  }
}

export type { Strings } from './languages/en/inbox.ts'
export { CarillonBell, CarillonInbox }
