// Users on /operator, without secrets and notifications.
import { deviceLabel } from '../audit/entry.ts'
import { readInbox } from '../inbox/inbox.store.ts'
import type { Sessions } from '../sessions/sessions.ts'
import { listSignIns } from '../sessions/sign-ins.store.ts'
import type { Store } from '../store/store.ts'
import { displayAccount } from '../users/display-user.ts'
import type { User } from '../users/users.store.ts'
import { belongingsOf } from './people.store.ts'

export function displayPerson(user: User) {
  return { ...displayAccount(user), role: user.role }
}

export type PersonNeeds = {
  store: Store
  sessions: Pick<Sessions, 'liveBounds'>
  signInLifetimes: { stateless: number }
  users: { now: () => number }
}

const maxSignIns = 100

export async function wholePerson(needs: PersonNeeds, user: User) {
  const { store, sessions, signInLifetimes, users } = needs
  const alive = {
    sessions: sessions.liveBounds(),
    tokensSince: users.now() - signInLifetimes.stateless + 1,
  }
  const signIns = await store.read(listSignIns, {
    userId: user.id,
    ownSignInId: '',
    alive,
    limit: maxSignIns,
  })
  const belongings = await store.read(belongingsOf, user.id)
  const { total, unread, unseen, archived, snoozed } = await store.read(readInbox, user.id)
  return {
    user: { ...displayPerson(user), passwordChangeRequired: user.passwordReportedAt !== null },
    signIns: signIns.map(({ signInId: id, userAgent, device, ...signIn }) => {
      return { id, device: device ?? deviceLabel(userAgent), ...signIn }
    }),
    ...belongings,
    inbox: { total, unread, unseen, archived, snoozed },
  }
}
