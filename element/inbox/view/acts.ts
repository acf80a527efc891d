// What the reader does with the list and with one notification: each act is passed on to the store of the client, and some can be taken
// back for a while. The store takes a refused act back; the reader reads and hears why.
import type { InboxList, Notification } from 'carillon-client'
import type { InboxSource } from '../../inbox-source.ts'
import type { Categories } from './categories.ts'
import { reasonOf } from './states.ts'

/** How long the offer to undo is displayed. */
const offerMs = 10_000

type Setting = {
  source: InboxSource
  categories: Categories
  /** Of the selected tab. */
  list(): InboxList | undefined
  onChange(): void
  /** Whether the offer to undo has the focus: then it stays. */
  focusedOffer(): Element | null | undefined
}

export class Acts {
  /** What can be undone at this time. */
  offer: { text: string; undo: () => Promise<void> | undefined } | undefined
  /** Why the last act was taken back. */
  failure = ''
  readonly #setting: Setting
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(setting: Setting) {
    this.#setting = setting
  }

  read({ id }: Notification): void {
    this.#do(this.#list?.read(id), this.#strings.notMarkedAsRead)
  }

  unread({ id }: Notification): void {
    this.#do(this.#list?.unread(id), this.#strings.notMarkedAsUnread)
  }

  readAll(list: InboxList): void {
    const { allMarkedAsRead, notMarkedAsRead } = this.#strings
    // The store marks up to the newest item that is displayed.
    list.showNewer()
    this.#do(list.readAll(), notMarkedAsRead, { text: allMarkedAsRead, undo: () => list.undo() })
  }

  archiveRead(): void {
    const list = this.#list
    this.#do(list?.archiveRead(), this.#strings.notDone, {
      text: this.#strings.readArchived,
      undo: () => list?.undo(),
    })
  }

  /** Out of the list, or back into it if it is archived or snoozed. */
  archive(one: Notification): void {
    const { itemArchived, itemUnarchived, notDone } = this.#strings
    const { id, archivedAt, snoozedUntil } = one
    if (archivedAt || snoozedUntil)
      this.#do(this.#list?.unarchive(id), notDone, { text: itemUnarchived, undo: this.#away(one) })
    else this.#do(this.#list?.archive(id), notDone, { text: itemArchived, undo: this.#away(one) })
  }

  snooze(one: Notification, until: number): void {
    const { itemSnoozed, notDone } = this.#strings
    const acting = this.#list?.snooze(one.id, new Date(until).toISOString())
    this.#do(acting, notDone, { text: itemSnoozed, undo: this.#away(one) })
  }

  remove({ id }: Notification): void {
    this.#do(this.#list?.remove(id), this.#strings.notDone)
    this.#setting.source.announcer.say(this.#strings.itemDeleted)
  }

  mute(category: string, isMuted: boolean): void {
    const { categoryMuted, categoryUnmuted, notDone } = this.#strings
    const { categories } = this.#setting
    const mute = (muted: boolean) => categories.mute(category, muted ? 'forever' : null)
    this.#do(mute(isMuted), notDone, { text: isMuted ? categoryMuted : categoryUnmuted, undo: () => mute(!isMuted) })
  }

  takeBack(): void {
    const { undone, notUndone } = this.#strings
    const undo = this.offer?.undo
    this.#offer(undefined)
    if (undo)
      this.#do(
        undo()?.then(() => this.#setting.source.announcer.say(undone)),
        notUndone,
      )
  }

  /** The list is displayed anew: what was said of the last act is not. */
  end(): void {
    this.failure = ''
    this.#offer(undefined)
  }

  get #list(): InboxList | undefined {
    return this.#setting.list()
  }

  get #strings(): InboxSource['strings'] {
    return this.#setting.source.strings
  }

  /** Puts a notification back where it was before the act, and in the state that it had. */
  #away({ id, read, archivedAt, snoozedUntil }: Notification): () => Promise<void> | undefined {
    const list = this.#list
    if (archivedAt) return () => list?.archive(id)
    if (snoozedUntil) return () => list?.snooze(id, snoozedUntil)
    return () => (read ? list?.unarchive(id) : list?.unread(id))
  }

  #do(act: Promise<void> | undefined, failure: string, offer?: Acts['offer']): void {
    const { announcer } = this.#setting.source
    this.failure = ''
    if (offer) {
      this.#offer(offer)
      announcer.say(`${offer.text}. ${this.#strings.undo}`)
    }
    act?.catch((error) => {
      this.failure = `${failure} ${reasonOf(error, this.#strings)}`
      this.#offer(undefined)
      announcer.say(this.failure)
    })
  }

  #offer(offer: Acts['offer']): void {
    clearTimeout(this.#timer)
    this.offer = offer
    this.#setting.onChange()
    if (offer) this.#timer = setTimeout(() => this.#expire(offer), offerMs)
  }

  /** The offer stays while it has the focus. */
  #expire(offer: Acts['offer']): void {
    const end = () => offer === this.offer && this.#offer(undefined)
    const focused = this.#setting.focusedOffer()
    if (focused) focused.addEventListener('blur', end, { once: true })
    else end()
  }
}
