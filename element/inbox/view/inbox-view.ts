// Loaded on demand, so it imports nothing that the entry point imports too.
import type { InboxList, InboxSnapshot, Notification } from 'carillon-client'
import type { ReactiveController, TemplateResult } from 'lit'
import type { InboxSource, Tab } from '../../inbox-source.ts'
import { inboxStyles } from '../../look/inbox-styles.ts'
import { timesOf } from '../../times.ts'
import type { CarillonInbox } from '../carillon-inbox.ts'
import { Acts } from './acts.ts'
import { Arrivals } from './arrivals.ts'
import { Categories } from './categories.ts'
import { Feed } from './feed.ts'
import { type ItemContext, picture } from './item.ts'
import { type Act, keyEntries, keyOf } from './keys.ts'
import { openItem } from './links.ts'
import { html, nothing } from './loaded.ts'
import { type Entry, entriesOf, Menu, snoozeEntries } from './menu.ts'
import { PreferencesSheet } from './preferences.ts'
import { PushEntry } from './push-entry.ts'
import { ScrollWatch } from './scroll-watch.ts'
import { Seen } from './seen.ts'
import { banner, nothingShown, signedOut, tabBar } from './states.ts'

export { handOver } from './loaded.ts'

const clockMs = 30_000
const defaultLimit = 20
/** After a touch, `:hover` stays. */
const canHover = matchMedia('(hover: hover)').matches
const styleSheet = new CSSStyleSheet()
styleSheet.replaceSync(inboxStyles)

export class InboxView implements ReactiveController {
  readonly #host: CarillonInbox
  readonly #source: InboxSource
  readonly #feed: Feed = new Feed()
  readonly #scroll: ScrollWatch
  readonly #acts: Acts
  readonly #categories: Categories
  readonly #menu: Menu
  readonly #push: PushEntry
  readonly #preferences: PreferencesSheet
  readonly #arrivals = new Arrivals()
  readonly #seen = new Seen()
  #tab: Tab = 'inbox'
  /** What arrives at the top pushes the last ones out of the page. */
  #shown = 0
  /** How many were displayed when the end was last looked for. */
  #watched = 0
  #context: ItemContext | undefined
  #now = 0
  #held: { list: InboxList | undefined; isHeld: boolean } | undefined
  #clock: ReturnType<typeof setInterval> | undefined
  /** What had the focus before this rendering, and the place of its article. */
  #active: Element | null | undefined
  #place = -1

  constructor(host: CarillonInbox) {
    this.#host = host
    this.#source = host.source
    const onChange = () => host.requestUpdate()
    this.#categories = new Categories(onChange)
    this.#acts = new Acts({
      source: host.source,
      categories: this.#categories,
      list: () => this.#list,
      onChange,
      focusedOffer: () => this.#find('[part=undo] :focus'),
    })
    this.#menu = new Menu(host)
    this.#push = new PushEntry(host.source, this.#acts, () => host.pushOptions)
    this.#preferences = new PreferencesSheet(host, () => this.#source.client)
    this.#scroll = new ScrollWatch({
      top: () => this.#hold(),
      end: () => this.#find('[part=more]:is(:hover,:focus)') ?? void this.#more(),
    })
    host.addController(this)
    host.shadowRoot?.adoptedStyleSheets.push(styleSheet)
  }

  hostConnected(): void {
    document.addEventListener('keydown', this.#onKey)
    this.#now = Date.now()
    this.#clock = setInterval(() => {
      this.#now = Date.now()
      this.#host.requestUpdate()
    }, clockMs)
  }

  hostDisconnected(): void {
    document.removeEventListener('keydown', this.#onKey)
    clearInterval(this.#clock)
    this.#arrivals.end()
    this.#feed.disconnect()
    this.#scroll.disconnect()
    this.#acts.offerUndo(undefined)
    this.#menu.onRemoved()
  }

  hostUpdate(): void {
    const active = this.#host.shadowRoot?.activeElement ?? null
    this.#active = active
    const articles = this.#articles
    const isMore = active?.matches('[part=more]')
    this.#place = isMore
      ? articles.length
      : articles.findIndex((article) => article.contains(active))
  }

  hostUpdated(): void {
    this.#updateFeed()
    this.#menu.closeIfGone()
    if (this.#list?.getSnapshot().state === 'live') this.#push.need()
    // The focus stays in the element.
    if (this.#active && !this.#active.isConnected) {
      const articles = this.#articles
      const next = articles[Math.min(this.#place, articles.length - 1)] ?? this
      next.focus()
    }
    this.#scroll.observe(this.#find('[part=scroll]'))
    this.#lookForEnd()
    this.#hold()
    if (this.#tab === 'inbox' && !this.#scroll.isScrolled) this.#seen.look(this.#host)
  }

  focus(options?: FocusOptions): void {
    this.#find('[aria-selected=true],[part=sign-in]')?.focus(options)
  }

  reset(): void {
    this.#find('[part=scroll]')?.scrollTo(0, 0)
    this.#list?.showNewer()
  }

  render(): TemplateResult {
    const { strings, announcer } = this.#source
    const snapshot = this.#list?.getSnapshot()
    const isSignedOut = snapshot?.state === 'signed-out'
    return html`<div part="root" dir=${strings.direction} lang=${strings.locale}>
      <div part="header">
        <slot name="header"><h2 part="title">${strings.title}</h2></slot>
        ${snapshot && !isSignedOut ? this.#headerActs() : nothing}
      </div>
      ${isSignedOut ? signedOut(this.#host.signInLink, strings) : snapshot && this.#tabsAndList(snapshot)}
      ${this.#menu.render()}
      ${this.#preferences.render({ strings, times: this.#context?.times ?? timesOf(strings.locale), now: this.#now })}
      ${announcer.host === this.#host ? html`<div part="status" role="status" aria-live="polite">${announcer.text}</div>` : nothing}
    </div>`
  }

  #headerActs(): TemplateResult {
    const { strings } = this.#source
    return html`<div part="header-acts">
      <button part="mark-all" type="button" aria-disabled=${!this.#hasUnread} @click=${this.#readAll.bind(this)}>
        ${strings.markAllAsRead}
      </button>
      <button part="list-more" type="button" aria-label=${strings.more} title=${strings.more} aria-haspopup="menu" aria-expanded="false"
        @pointerdown=${this.#onPress} @click=${this.#onListMore.bind(this)}>${picture('more')}</button>
    </div>`
  }

  /** With a category, it counts only what the open lists show. */
  get #hasUnread(): boolean {
    const { unread = 0, items = [], newer = [] } = this.#marked?.getSnapshot() ?? {}
    if (!this.#isPart || !unread) return unread > 0
    return !!this.#source.openTotal('unread') || [...newer, ...items].some(({ read }) => !read)
  }

  #tabsAndList(snapshot: InboxSnapshot): TemplateResult {
    const { strings } = this.#source
    const { items, newer, isLoading, hasMore } = snapshot
    const shown = Math.min(items.length, this.#limit)
    // A feed has to contain articles, or be busy (WAI-ARIA 1.2, 5.4, "feed").
    const isFeed = shown > 0 || isLoading
    const feed = isFeed ? { role: 'feed', label: strings.title } : { role: nothing, label: nothing }
    const { offer, failure } = this.#acts
    return html`<div part="foot">${
      offer
        ? html`<div part="undo">
            <span>${offer.text}</span>
            <button part="undo-button" type="button" @click=${this.#takeBack.bind(this)}>${strings.undo}</button>
          </div>`
        : nothing
    }${banner(snapshot, { strings, failure, retry: () => this.#source.retry() })}</div>
      <div part="bar">${tabBar({
        source: this.#source,
        selected: this.#tab,
        countOf: (tab) => this.#countOf(tab),
        select: (tab, isByKey) => this.#select(tab, isByKey),
      })}${
        newer.length
          ? html`<button part="newer" type="button" @click=${this.#showNewer.bind(this)}>${strings.newer(newer.length)}</button>`
          : nothing
      }</div>
      <div part="list" role="tabpanel" id="list" aria-labelledby=${this.#tab}>
        <div part="scroll">
          <div part="top"></div>
          <div part="feed" role=${feed.role} aria-label=${feed.label} aria-busy=${isLoading}
            @pointerdown=${this.#onPress} @focusin=${this.#hold.bind(this)} @focusout=${this.#onFocusOut.bind(this)}
            @pointerover=${this.#hold.bind(this)} @pointerout=${this.#hold.bind(this)}
            @click=${this.#onClick.bind(this)} @auxclick=${this.#onClick.bind(this)}></div>
          ${shown ? nothing : nothingShown(snapshot, { tab: this.#tab, isPart: this.#isPart, strings })}
          ${
            hasMore || items.length > shown
              ? html`<button part="more" type="button" aria-disabled=${isLoading} @click=${this.#onMore.bind(this)}>${strings.loadMore}</button>`
              : nothing
          }
          <div part="end" tabindex="-1"></div>
        </div>
      </div>
      ${this.#host.allUrl ? html`<a part="see-all" href=${this.#host.allUrl}>${strings.seeAll}</a>` : nothing}`
  }

  /** Counts as far as the open lists show; the list of the archive opens for its number. */
  #countOf(tab: Tab): number | undefined {
    const { state, unread } = this.#source.snapshot() ?? {}
    if (tab === 'unread' && !this.#isPart) return unread
    if (tab === 'archived' && state === 'live') return this.#source.snapshot(tab)?.total
    return this.#source.openTotal(tab)
  }

  #updateFeed(): void {
    const feed = this.#find('[part=feed]')
    const snapshot = this.#list?.getSnapshot()
    if (!feed || !snapshot) return
    const { items, newer, total, hasMore } = snapshot
    const first = items[0]?.seq ?? 0
    if (this.#arrivals.isTooEarly(first)) return
    const { strings } = this.#source
    const given = this.#host.renderItem ?? this.#host.itemTemplate
    const renderer =
      given ?? this.#host.querySelector<HTMLTemplateElement>(':scope>template[slot=item]')
    const categories = this.#categories.known
    const before = this.#context
    if (
      before?.strings !== strings ||
      before.renderer !== renderer ||
      before.categories !== categories
    ) {
      const times = before?.strings === strings ? before.times : timesOf(strings.locale)
      this.#context = { strings, times, renderer, categories }
    }
    if (this.#source.client) this.#categories.need(items, this.#source.client)
    const size = hasMore ? Math.max(total - newer.length, items.length) : items.length
    const context = this.#context as ItemContext
    this.#feed.update(feed, { items: items.slice(0, this.#limit), size, now: this.#now, context })
    this.#arrivals.displayed(first, () => this.#host.requestUpdate())
  }

  get #isPart(): boolean {
    return !!this.#host.category?.trim()
  }

  get #list(): InboxList | undefined {
    return this.#source.list(this.#tab)
  }

  get #limit(): number {
    return this.#shown || this.#host.limit || defaultLimit
  }

  get #articles(): HTMLElement[] {
    return [...(this.#host.shadowRoot?.querySelectorAll('article') ?? [])]
  }

  #find(selector: string): HTMLElement | null | undefined {
    return this.#host.shadowRoot?.querySelector<HTMLElement>(selector)
  }

  /**
   * Arrivals wait while the list is scrolled or used, so that nothing moves what the reader reads or
   * is about to press.
   */
  #hold(): void {
    const list = this.#list
    const isUsed =
      this.#host.shadowRoot?.activeElement?.closest('[part=feed]') ??
      this.#find('[part=item-more][aria-expanded=true]') ??
      (canHover ? this.#find('article button:hover') : undefined)
    const isHeld = this.#scroll.isScrolled || !!isUsed || !!list?.getSnapshot().newer.length
    if (list === this.#held?.list && isHeld === this.#held?.isHeld) return
    this.#held = { list, isHeld }
    list?.hold(isHeld)
  }

  /** On the way from one item to another, the list stays held. */
  #onFocusOut({ currentTarget, relatedTarget }: FocusEvent): void {
    if (!(currentTarget as Node).contains(relatedTarget as Node | null)) this.#hold()
  }

  #showNewer(): void {
    this.#arrivals.end()
    this.reset()
    void this.#host.updateComplete.then(() => this.#articles[0]?.focus())
  }

  #select(tab: Tab, isFocused: boolean): void {
    this.#list?.hold(false)
    this.#held = undefined
    this.#tab = tab
    this.#shown = 0
    this.#arrivals.end()
    this.#acts.failure = ''
    this.#find('[part=scroll]')?.scrollTo(0, 0)
    this.#host.requestUpdate()
    void this.#host.updateComplete.then(() => {
      if (isFocused) this.focus()
      this.#find(`#${tab}`)?.scrollIntoView({ block: 'nearest' })
    })
  }

  /** https://www.w3.org/WAI/ARIA/apg/patterns/feed/, and one key for each act. */
  readonly #onKey = (event: KeyboardEvent): void => {
    const isInBell = this.#source.announcer.host !== this.#host
    const key = keyOf(event, { list: this.#host, isInBell })
    if (!key) return
    const article = (event.composedPath()[0] as Element).closest('article') ?? undefined
    if (key === 'start') (this.#find('[part=newer]') ?? this).focus()
    else if (key === 'end') this.#find('[part=more],[part=end]')?.focus()
    else if (key === 'next' || key === 'previous') void this.#step(article, key === 'next' ? 1 : -1)
    else if (key === 'open') this.#open(article as HTMLElement, event)
    else this.#press(key, article)
    event.preventDefault()
  }

  readonly #onPress = (event: Event): void => this.#menu.onPress(event)

  async #step(article: HTMLElement | undefined, step: 1 | -1): Promise<void> {
    const place = article ? this.#articles.indexOf(article) + step : 0
    if (place === this.#articles.length) await this.#more()
    this.#articles[place]?.focus()
  }

  async #more(): Promise<void> {
    const list = this.#list
    if (!list) return
    const shown = this.#limit
    const { items, hasMore } = list.getSnapshot()
    if (hasMore && items.length <= shown) await list.more().catch(() => {})
    if (list.getSnapshot().items.length <= shown) return
    this.#shown = shown + (this.#host.limit || defaultLimit)
    this.#host.requestUpdate()
    await this.#host.updateComplete
  }

  /** The end may be as near as before, which the observer does not report again. */
  #lookForEnd(): void {
    const { length } = this.#articles
    if (length > this.#watched) this.#scroll.again()
    this.#watched = length
  }

  async #onMore(): Promise<void> {
    const before = this.#articles.length
    await this.#more()
    const count = this.#articles.length - before
    if (count) this.#source.announcer.say(this.#source.strings.loaded(count))
  }

  #onClick(event: MouseEvent): void {
    const target = event.target as Element
    const article = target.closest('article')
    if (!article || event.button > 1) return
    const part = target.closest('button')?.getAttribute('part')
    const key = /^item-(toggle|archive|more|unfold)$/.exec(part ?? '')?.[1]
    if (key && !event.button) this.#press(key as Act, article)
    else if (!target.closest('button,input,select,textarea,label')) this.#open(article, event)
  }

  #press(act: Act, article?: HTMLElement): void {
    const one = article && this.#notification(article)
    const acts = this.#acts
    if (act === 'undo') this.#takeBack()
    else if (act === 'help') this.#openKeys(article)
    else if (!one) return
    else if (act === 'archive')
      acts.move(one.archivedAt || one.snoozedUntil ? 'unarchive' : 'archive', one)
    else if (act === 'toggle') acts.mark(one.read ? 'markUnread' : 'read', one)
    else if (act === 'unfold') unfold(article)
    else this.#openMenu(one, article, act)
  }

  #openMenu(one: Notification, article: HTMLElement, act: 'more' | 'delete' | 'snooze'): void {
    const { strings } = this.#source
    const button = article.querySelector('[part=item-more]') as HTMLElement
    const { times } = this.#context as ItemContext
    const setting = {
      acts: this.#acts,
      strings,
      times,
      categories: this.#categories,
      now: Date.now(),
    }
    const open = (title: string, entries: readonly Entry[]) =>
      void this.#menu.open(button, title, entries)
    const remove = () => this.#acts.move('remove', one)
    const confirm = () =>
      open(strings.delete, [{ label: strings.deleteForGood, isFinal: true, act: remove }])
    if (act === 'delete') confirm()
    else if (act === 'snooze') open(strings.keys.snooze, snoozeEntries(one, setting))
    else open(strings.more, entriesOf(one, setting, confirm))
  }

  #openKeys(article?: HTMLElement): void {
    const { strings } = this.#source
    const button =
      article?.querySelector<HTMLElement>('[part=item-more]') ?? this.#find('[part=list-more]')
    if (!button) return
    const acts = {
      step: (by: 1 | -1) => void this.#step(article, by),
      open: () => article?.querySelector<HTMLElement>('[part=item-title]')?.click(),
      press: (act: Act) => this.#press(act, article),
    }
    void this.#menu.open(button, strings.keys.title, keyEntries(strings, acts))
  }

  #onListMore({ currentTarget }: Event): void {
    const { strings } = this.#source
    const { total = 0, unread = 0 } = this.#source.snapshot() ?? {}
    const entries: Entry[] = [
      { label: strings.snoozed, act: () => this.#select('snoozed', true) },
      { label: strings.preferences.title, act: () => void this.#preferences.open(strings) },
      ...this.#push.entries(),
      { label: strings.keys.title, detail: '?', act: () => this.#openKeys() },
    ]
    const archiveRead = { label: strings.archiveRead, act: () => this.#acts.archiveRead() }
    if (total > unread && !this.#isPart) entries.unshift(archiveRead)
    void this.#menu.open(currentTarget as HTMLElement, strings.more, entries)
  }

  #open(article: HTMLElement, event: MouseEvent | KeyboardEvent): void {
    const notification = this.#notification(article)
    if (notification && openItem(this.#host, notification, event) && !notification.read)
      this.#acts.mark('read', notification)
  }

  #notification({ dataset }: HTMLElement): Notification | undefined {
    return this.#list?.getSnapshot().items.find(({ id }) => id === dataset.id)
  }

  get #marked(): InboxList | undefined {
    return this.#tab === 'unread' ? this.#list : this.#source.list('inbox')
  }

  #readAll(): void {
    if (this.#marked && this.#hasUnread) this.#acts.readAll(this.#marked)
  }

  #takeBack(): void {
    const isInToast = this.#find('[part=undo] :focus')
    this.#acts.takeBack()
    if (isInToast) this.#find('[part=mark-all]')?.focus()
  }
}

function unfold(article: HTMLElement): void {
  article.dataset.unfolded = ''
  delete article.dataset.folded
  article.focus()
}
