// An inbox without a server, for the gallery and its tests. A given state, such as `error`, stays.
import type { InboxList, InboxSnapshot, ListState } from '../../client/store/inbox-list.ts'
import {
  type Act,
  type ActOnOne,
  type Filter,
  itemsOf,
  withActs,
} from '../../client/store/state.ts'
import { CarillonError, type ErrorCode } from '../../client/transport/errors.ts'
import type { Notification, Preferences, PreferencesChange } from '../../client/transport/types.ts'

export type Given = {
  items?: Notification[]
  /** Arrived while the list was held: newer than all of `items`. */
  newer?: Notification[]
  state?: ListState
  error?: ErrorCode
  refusal?: ErrorCode
  categories?: Preferences['categories']
}

const whole = (status: Filter['status']) => ({ status, categories: [], end: 0, rest: 0 })

export class GivenInbox {
  #acts: readonly Act[] = []
  #isHeld = true
  readonly #given: Given
  readonly #onChange = new Set<() => void>()
  readonly #preferences: Omit<Preferences, 'categories'> = {
    mutedUntil: null,
    mail: null,
    usualMail: 'off',
    push: null,
    timeZone: null,
    digestAt: null,
    quietHours: null,
    ways: { mail: 'on' },
  }

  constructor(given: Given) {
    this.#given = given
  }

  open({ status = 'inbox' }: Partial<Filter> = {}): InboxList {
    const listeners = new Set<(snapshot: InboxSnapshot) => void>()
    let snapshot = this.#snapshot(status)
    const update = () => {
      snapshot = this.#snapshot(status)
      for (const listener of listeners) listener(snapshot)
    }
    this.#onChange.add(update)
    const one = (type: Exclude<ActOnOne['type'], 'snooze'>) => (id: string) =>
      this.#add({ type, id })
    return {
      getSnapshot: () => snapshot,
      subscribe: (listener) => {
        listeners.add(listener)
        return () => listeners.delete(listener)
      },
      more: async () => {},
      hold: () => {},
      showNewer: () => {
        this.#isHeld = false
        this.#changed()
      },
      read: one('read'),
      markUnread: one('unread'),
      archive: one('archive'),
      unarchive: one('unarchive'),
      snooze: (id, until) => this.#add({ type: 'snooze', id, until }),
      remove: one('remove'),
      readAll: () => this.#add({ type: 'read-all', throughSeq: Number.POSITIVE_INFINITY }),
      archiveRead: () => this.#add({ type: 'archive-read' }),
      seen: () => this.seen(snapshot.items[0]?.seq ?? 0),
      undo: () => {
        const last = this.#acts.findLast(({ type }) => type !== 'seen')
        return this.#do(this.#acts.filter((act) => act !== last))
      },
      close: () => this.#onChange.delete(update),
    }
  }

  async preferences(): Promise<Preferences> {
    return { ...this.#preferences, categories: this.#given.categories ?? {} }
  }

  async setPreferences({ categories = {}, ...change }: PreferencesChange): Promise<void> {
    Object.assign(this.#preferences, change)
    for (const [name, choice] of Object.entries(categories))
      Object.assign(this.#given.categories?.[name] ?? {}, choice)
  }

  seen(throughSeq: number): Promise<void> {
    return this.#add({ type: 'seen', throughSeq })
  }

  #snapshot(status: Filter['status']): InboxSnapshot {
    const { items = [], newer = [], state = 'live', error } = this.#given
    const given = new Map([...newer, ...items].map((one) => [one.id, one]))
    const unread = itemsOf(given, whole('unread')).length
    const total = itemsOf(given, whole('inbox')).length
    const inbox = withActs(
      { known: given, unread, total, unseen: total },
      this.#acts,
      new Date().toISOString(),
    )
    const all = itemsOf(inbox.known, whole(status))
    const waiting = new Set(this.#isHeld ? newer.map(({ id }) => id) : [])
    return {
      items: all.filter(({ id }) => !waiting.has(id)),
      newer: all.filter(({ id }) => waiting.has(id)),
      unread: inbox.unread,
      unseen: inbox.unseen,
      total: all.length,
      state,
      error: error && new CarillonError(error, 'given by the gallery'),
      hasMore: false,
      categories: {},
      isLoading: state === 'loading',
    }
  }

  #add(act: Act): Promise<void> {
    return this.#do([...this.#acts, act])
  }

  async #do(acts: readonly Act[]): Promise<void> {
    const { refusal } = this.#given
    if (refusal) throw new CarillonError(refusal, 'refused by the gallery')
    this.#acts = acts
    this.#changed()
  }

  #changed(): void {
    for (const update of this.#onChange) update()
  }
}
