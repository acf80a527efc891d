// What the reader does. If the server refuses an act, the store takes it back, and the reader hears
// why.
import type { Carillon, InboxList, Notification } from 'carillon-client'
import type { InboxSource } from '../../inbox-source.ts'
import type { Categories } from './categories.ts'
import { reasonOf } from './states.ts'

const offerMs = 10_000
/** The element of a page that acted last: an undo would take back its act, and no other. */
const latest = new WeakMap<Carillon, Acts>()

type Acting = Promise<void> | undefined
type Offer = { text: string; undo(): Acting }
type Setting = {
  source: InboxSource
  categories: Categories
  list(): InboxList | undefined
  onChange(): void
  focusedOffer(): Element | null | undefined
}

export class Acts {
  offer: Offer | undefined
  failure = ''
  readonly #setting: Setting
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(setting: Setting) {
    this.#setting = setting
  }

  mark(act: 'read' | 'markUnread', { id }: Notification): void {
    const { notMarkedAsRead, notMarkedAsUnread } = this.#setting.source.strings
    this.#do(this.#setting.list()?.[act](id), {
      failure: act === 'read' ? notMarkedAsRead : notMarkedAsUnread,
    })
  }

  /** `until`: in milliseconds since 1970. A deletion and the return to the list have no undo. */
  move(act: 'archive' | 'unarchive' | 'remove' | 'snooze', { id }: Notification, until = 0): void {
    const { itemArchived, itemSnoozed } = this.#setting.source.strings
    const list = this.#setting.list()
    const text = { archive: itemArchived, snooze: itemSnoozed, unarchive: '', remove: '' }[act]
    const acting =
      act === 'snooze' ? list?.snooze(id, new Date(until).toISOString()) : list?.[act](id)
    this.#do(acting, { text, undo: () => list?.undo() })
  }

  readAll(list: InboxList): void {
    const { allMarkedAsRead: text, notMarkedAsRead: failure } = this.#setting.source.strings
    // The store marks up to the newest item that is displayed.
    list.showNewer()
    this.#do(list.readAll(), { failure, text, undo: () => list.undo() })
  }

  archiveRead(): void {
    const list = this.#setting.list()
    const { itemArchived: text } = this.#setting.source.strings
    this.#do(list?.archiveRead(), { text, undo: () => list?.undo() })
  }

  mute(category: string, isMuted: boolean): void {
    const { categories, source } = this.#setting
    const text = isMuted ? source.strings.categoryMuted : source.strings.categoryUnmuted
    const mute = (muted: boolean) => categories.mute(category, muted ? 'forever' : null)
    this.#do(mute(isMuted), { text, undo: () => mute(!isMuted) })
  }

  notify(turning: Promise<void>, text: string): void {
    const { strings, announcer } = this.#setting.source
    this.failure = ''
    const end = (said: string) => {
      announcer.say(said)
      this.#setting.onChange()
    }
    turning.then(
      () => end(text),
      (error) => {
        this.failure =
          typeof error === 'string' ? error : `${strings.notDone} ${reasonOf(error, strings)}`
        end(this.failure)
      },
    )
  }

  takeBack(): void {
    const { strings, announcer } = this.#setting.source
    const undone = this.offer?.undo()?.then(() => announcer.say(strings.undone))
    this.offerUndo(undefined)
    this.#do(undone, { failure: strings.notUndone })
  }

  offerUndo(offer: Offer | undefined): void {
    clearTimeout(this.#timer)
    this.offer = offer
    this.#setting.onChange()
    const end = () => offer === this.offer && this.offerUndo(undefined)
    if (!offer) return
    this.#timer = setTimeout(() => {
      const focused = this.#setting.focusedOffer()
      if (focused) focused.addEventListener('blur', end, { once: true })
      else end()
    }, offerMs)
  }

  #do(acting: Acting, { failure, text, undo }: Partial<Offer> & { failure?: string }): void {
    const { strings, announcer, client } = this.#setting.source
    if (client && latest.get(client) !== this) latest.get(client)?.offerUndo(undefined)
    if (client) latest.set(client, this)
    const offer = text && undo ? { text, undo } : undefined
    this.failure = ''
    this.offerUndo(offer)
    if (offer) announcer.say(`${text}. ${strings.undo}`)
    acting?.catch((error) => {
      this.failure = `${failure ?? strings.notDone} ${reasonOf(error, strings)}`
      this.offerUndo(undefined)
      announcer.say(this.failure)
    })
  }
}
