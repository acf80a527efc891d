// What <carillon-inbox> displays and does. It displays what the store of the client says (client/store), and passes on what the
// reader does. Loaded on demand, so it imports nothing that the entry point imports too.
import type { InboxList, InboxSnapshot, Notification } from 'carillon-client'
import type { ReactiveController, TemplateResult } from 'lit'
import type { InboxSource, Tab } from '../../inbox-source.ts'
import { inboxStyles } from '../../look/inbox-styles.ts'
import { timesOf } from '../../times.ts'
import type { CarillonInbox } from '../carillon-inbox.ts'
import { Feed } from './feed.ts'
import type { ItemContext, Lit } from './item.ts'
import { follow, isModified, safeLink } from './links.ts'
import { ScrollWatch } from './scroll-watch.ts'

const tabs: readonly Tab[] = ['all', 'unread']
/** How often the relative times are made again. */
const clockMs = 30_000
const defaultLimit = 20
/** How long the offer to undo "mark all as read" is displayed. */
const offerMs = 10_000

/** A template, or the symbol of Lit for nothing. */
type Template = TemplateResult | symbol

export class InboxView implements ReactiveController {
  readonly #host: CarillonInbox
  readonly #source: InboxSource
  readonly #lit: Lit
  readonly #feed: Feed = new Feed()
  readonly #scroll: ScrollWatch
  #isUndoOffered = false
  #offerTimer: ReturnType<typeof setTimeout> | undefined
  #tab: Tab = 'all'
  /** How many items are in the page at most. The store may hold more: what arrives at the top pushes the last ones out of the page. */
  #shown = 0
  /** Why the last act was taken back. */
  #failure = ''
  #context: ItemContext | undefined
  #now = 0
  #held: { list: InboxList | undefined; isHeld: boolean } | undefined
  #clock: ReturnType<typeof setInterval> | undefined
  /** What had the focus before this rendering, and the place of its article; of "Load more", that of the first new one. */
  #active: Element | null | undefined
  #place = -1

  constructor(host: CarillonInbox, lit: Lit) {
    this.#host = host
    this.#source = host.source
    this.#lit = lit
    this.#scroll = new ScrollWatch({
      onTop: () => this.#hold(),
      onEnd: () => this.#find('[part=more]:is(:hover,:focus)') ?? void this.#more(),
    })
    host.addController(this)
    host.shadowRoot?.adoptedStyleSheets.push(styleSheet())
  }

  hostConnected(): void {
    this.#now = Date.now()
    this.#clock = setInterval(() => {
      this.#now = Date.now()
      this.#host.requestUpdate()
    }, clockMs)
  }

  hostDisconnected(): void {
    clearInterval(this.#clock)
    this.#scroll.disconnect()
    this.#offerUndo(false)
  }

  hostUpdate(): void {
    const active = this.#focused
    const articles = active ? this.#articles : []
    this.#active = active
    const isMore = active?.matches('[part=more]')
    this.#place = isMore ? articles.length : articles.findIndex((article) => article.contains(active ?? null))
  }

  hostUpdated(): void {
    this.#updateFeed()
    // The focus stays in the element if the focused part of it has disappeared.
    if (this.#active && !this.#active.isConnected) {
      const articles = this.#articles
      const next = articles[Math.min(this.#place, articles.length - 1)] ?? this
      next.focus()
    }
    this.#scroll.observe(this.#find('[part=scroll]'))
    this.#hold()
  }

  focus(options?: FocusOptions): void {
    this.#find('[aria-selected=true],[part=sign-in]')?.focus(options)
  }

  reset(): void {
    this.#find('[part=scroll]')?.scrollTo(0, 0)
    this.#list?.showNewer()
  }

  render(): TemplateResult {
    const { html, nothing } = this.#lit
    const { strings, announcer } = this.#source
    const snapshot = this.#list?.getSnapshot()
    return html`<div part="root" dir=${strings.direction} lang=${strings.locale}>
      <div part="header">
        <slot name="header"><h2 part="title">${strings.title}</h2></slot>
        ${snapshot && snapshot.state !== 'signed-out' ? this.#markAll(snapshot) : nothing}
      </div>
      ${!snapshot ? nothing : snapshot.state === 'signed-out' ? this.#signIn() : this.#tabsAndList(snapshot)}
      ${announcer.host === this.#host ? html`<div part="status" role="status" aria-live="polite">${announcer.text}</div>` : nothing}
    </div>`
  }

  #markAll(snapshot: InboxSnapshot): TemplateResult {
    const { html } = this.#lit
    return html`<button part="mark-all" type="button" aria-disabled=${!this.#hasUnread(snapshot)} @click=${this.#readAll.bind(this)}>
      ${this.#source.strings.markAllAsRead}
    </button>`
  }

  /** Whether "Mark all as read" has something to mark: below a category, as far as the open lists show. */
  #hasUnread({ unread, items, newer }: InboxSnapshot): boolean {
    if (!this.#host.category?.trim() || !unread) return unread > 0
    return !!this.#source.openTotal('unread') || [...newer, ...items].some(({ read }) => !read)
  }

  #signIn(): TemplateResult {
    const { html } = this.#lit
    const { strings } = this.#source
    return html`<div part="signed-out">
      <p part="state-title">${strings.signedOutTitle}</p>
      <p>${strings.signedOutText}</p>
      <a part="sign-in" href=${this.#host.signInLink}>${strings.signIn}</a>
    </div>`
  }

  #tabsAndList(snapshot: InboxSnapshot): TemplateResult {
    const { html, nothing } = this.#lit
    const { strings } = this.#source
    const { items, newer, isLoading, hasMore } = snapshot
    const shown = Math.min(items.length, this.#limit)
    // A feed has to contain articles, or be busy (WAI-ARIA 1.2, 5.4, "feed").
    const isFeed = shown > 0 || isLoading
    return html`${
      this.#isUndoOffered
        ? html`<div part="undo">
            <span>${strings.allMarkedAsRead}</span>
            <button part="undo-button" type="button" @click=${this.#takeBack.bind(this)}>${strings.undo}</button>
          </div>`
        : nothing
    }
      <div part="bar"><div part="tabs" role="tablist" aria-label=${strings.filter} @keydown=${this.#onTabKey.bind(this)}>
        ${tabs.map(
          (
            tab,
          ) => html`<button part=${tab === this.#tab ? 'tab tab-selected' : 'tab'} type="button" role="tab" id=${tab}
            aria-selected=${tab === this.#tab} aria-controls="list" tabindex=${tab === this.#tab ? 0 : -1}
            @click=${() => this.#select(tab)}>${strings[tab]}</button>`,
        )}
      </div>${
        newer.length
          ? html`<button part="newer" type="button" @click=${this.#showNewer.bind(this)}>${strings.newer(newer.length)}</button>`
          : nothing
      }</div>
      <div part="list" role="tabpanel" id="list" aria-labelledby=${this.#tab}>
        <div part="scroll">
          <div part="top"></div>
          <div part="feed" role=${isFeed ? 'feed' : nothing} aria-label=${isFeed ? strings.title : nothing} aria-busy=${isLoading}
            @focusin=${this.#hold.bind(this)} @focusout=${this.#hold.bind(this)} @keydown=${this.#onFeedKey.bind(this)}
            @click=${this.#onClick.bind(this)} @auxclick=${this.#onClick.bind(this)}></div>
          ${shown ? nothing : this.#nothingShown(snapshot)}
          ${
            hasMore || items.length > shown
              ? html`<button part="more" type="button" aria-disabled=${isLoading} @click=${this.#onMore.bind(this)}>${strings.loadMore}</button>`
              : nothing
          }
          <div part="end" tabindex="-1"></div>
        </div>
        ${this.#banner(snapshot)}
      </div>`
  }

  #updateFeed(): void {
    const feed = this.#find('[part=feed]')
    const snapshot = this.#list?.getSnapshot()
    if (!feed || !snapshot) return
    const { items, newer, total, hasMore } = snapshot
    const { strings } = this.#source
    const { renderItem, itemTemplate } = this.#host
    const renderer =
      renderItem ?? itemTemplate ?? this.#host.querySelector<HTMLTemplateElement>(':scope>template[slot=item]')
    if (this.#context?.strings !== strings || this.#context.renderer !== renderer)
      this.#context = { lit: this.#lit, strings, times: timesOf(strings.locale), renderer }
    const size = hasMore ? Math.max(total - newer.length, items.length) : items.length
    this.#feed.update(feed, { items: items.slice(0, this.#limit), size, now: this.#now, context: this.#context })
  }

  /** Below the list, so that it moves nothing that the reader reads. */
  #banner({ state, error }: InboxSnapshot): Template {
    const { html, nothing } = this.#lit
    const { strings } = this.#source
    // The server may also respond, but not as it should.
    if (state === 'offline')
      return html`<div part="offline"><p part="state-title">${error?.status ? this.#reason(error) : strings.offlineTitle}</p><p>${strings.offlineText}</p></div>`
    if (state === 'error')
      return html`<div part="error">
        <p part="state-title">${strings.errorTitle}</p>
        <p>${this.#reason(error)}</p>
        <button part="retry" type="button" @click=${() => this.#source.reopen()}>${strings.tryAgain}</button>
      </div>`
    return this.#failure ? html`<div part="error"><p>${this.#failure}</p></div>` : nothing
  }

  #nothingShown({ state, hasMore }: InboxSnapshot): Template {
    const { html, nothing } = this.#lit
    const { strings } = this.#source
    if (state === 'loading') return html`<p part="loading">${strings.loading}</p>`
    if (state === 'error' || state === 'offline' || hasMore) return nothing
    const [title, text] =
      this.#tab === 'all' ? [strings.emptyTitle, strings.emptyText] : [strings.noUnreadTitle, strings.noUnreadText]
    return html`<slot name="empty"><div part="empty"><p part="state-title">${title}</p><p>${text}</p></div></slot>`
  }

  get #list(): InboxList | undefined {
    return this.#source.list(this.#tab)
  }

  get #limit(): number {
    return this.#shown || this.#host.limit || defaultLimit
  }

  get #focused(): Element | null | undefined {
    return this.#host.shadowRoot?.activeElement
  }

  get #articles(): HTMLElement[] {
    return [...(this.#host.shadowRoot?.querySelectorAll('article') ?? [])]
  }

  #find(selector: string): HTMLElement | null | undefined {
    return this.#host.shadowRoot?.querySelector<HTMLElement>(selector)
  }

  /** Nothing is inserted above what the reader reads: while the list is scrolled or has the focus, arrivals wait. */
  #hold(): void {
    const list = this.#list
    const isFocused = this.#focused?.closest('[part=feed]')
    const isHeld = this.#scroll.isScrolled || !!isFocused || !!list?.getSnapshot().newer.length
    if (list === this.#held?.list && isHeld === this.#held?.isHeld) return
    this.#held = { list, isHeld }
    list?.hold(isHeld)
  }

  #showNewer(): void {
    this.reset()
    void this.#host.updateComplete.then(() => this.#articles[0]?.focus())
  }

  #select(tab: Tab): void {
    this.#list?.hold(false)
    this.#held = undefined
    this.#tab = tab
    this.#shown = 0
    this.#failure = ''
    this.#find('[part=scroll]')?.scrollTo(0, 0)
    this.#host.requestUpdate()
  }

  /** https://www.w3.org/WAI/ARIA/apg/patterns/tabs/ */
  #onTabKey(event: KeyboardEvent): void {
    const forward = this.#source.strings.direction === 'rtl' ? 'ArrowLeft' : 'ArrowRight'
    const step = event.key === forward ? 1 : /^Arrow(Left|Right)$/.test(event.key) ? -1 : 0
    const last = tabs.length - 1
    const place = { Home: 0, End: last }[event.key] ?? (tabs.indexOf(this.#tab) + step + tabs.length) % tabs.length
    if (!step && !/^(Home|End)$/.test(event.key)) return
    event.preventDefault()
    this.#select(tabs[place] as Tab)
    this.#find(`#${this.#tab}`)?.focus()
  }

  /** https://www.w3.org/WAI/ARIA/apg/patterns/feed/ */
  #onFeedKey(event: KeyboardEvent): void {
    const article = (event.target as Element).closest('article')
    if (!article) return
    const name = `${event.ctrlKey ? 'Control+' : ''}${event.key}`
    if (name === 'PageDown') void this.#step(article, 1)
    else if (name === 'PageUp') void this.#step(article, -1)
    else if (name === 'Control+Home') (this.#find('[part=newer]') ?? this).focus()
    else if (name === 'Control+End') this.#find('[part=more],[part=end]')?.focus()
    else if (event.key === 'Enter' && event.target === article) this.#open(article, event)
    else return
    event.preventDefault()
  }

  /** After the last article comes the next page. */
  async #step(article: HTMLElement, step: 1 | -1): Promise<void> {
    const place = this.#articles.indexOf(article) + step
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
    this.#scroll.again()
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
    const act = target.closest('[part=item-toggle]')
    if (act && !event.button) this.#toggle(article)
    else if (!target.closest('button,input,select,textarea,label')) this.#open(article, event)
  }

  /** A click with Ctrl, or with the middle button, opens another tab: the page that hears `carillon-open` is not part of that. */
  #open(article: HTMLElement, event: MouseEvent | KeyboardEvent): void {
    const notification = this.#notification(article)
    if (!notification) return
    const isOnLink = (event.target as Element).closest('a')
    if (!isOnLink && 'button' in event && (event.button || String(getSelection()))) return
    const init = { bubbles: true, composed: true, cancelable: true, detail: notification }
    if (!isModified(event) && !this.#host.dispatchEvent(new CustomEvent('carillon-open', init))) {
      event.preventDefault()
      return
    }
    if (!notification.read) this.#act(this.#list?.read(notification.id), this.#source.strings.notMarkedAsRead)
    const link = safeLink(notification.url)
    if (link && !isOnLink) follow(link, event)
  }

  #toggle(article: HTMLElement): void {
    const { strings } = this.#source
    const { id, read } = this.#notification(article) ?? {}
    if (!id) return
    if (read) this.#act(this.#list?.unread(id), strings.notMarkedAsUnread)
    else this.#act(this.#list?.read(id), strings.notMarkedAsRead)
  }

  #notification({ dataset }: HTMLElement): Notification | undefined {
    return this.#list?.getSnapshot().items.find(({ id }) => id === dataset.id)
  }

  #readAll(): void {
    const { strings, announcer } = this.#source
    const list = this.#list
    if (!list || !this.#hasUnread(list.getSnapshot())) return
    // The store marks up to the newest item that is displayed.
    list.showNewer()
    this.#act(list.readAll(), strings.notMarkedAsRead)
    this.#offerUndo(true)
    announcer.say(`${strings.allMarkedAsRead}. ${strings.undo}`)
  }

  /** The offer stays while it has the focus. */
  #offerUndo(isOffered: boolean): void {
    clearTimeout(this.#offerTimer)
    this.#isUndoOffered = isOffered
    this.#host.requestUpdate()
    if (isOffered) this.#offerTimer = setTimeout(() => this.#expireOffer(), offerMs)
  }

  #expireOffer(): void {
    const focused = this.#find('[part=undo] :focus')
    if (focused) focused.addEventListener('blur', () => this.#offerUndo(false), { once: true })
    else this.#offerUndo(false)
  }

  #takeBack(): void {
    const { strings, announcer } = this.#source
    this.#offerUndo(false)
    this.#act(this.#list?.undo(), strings.notUndone, () => announcer.say(strings.undone))
    this.#find('[part=mark-all]')?.focus()
  }

  /** The store takes a refused act back; the reader reads and hears why. */
  #act(act: Promise<void> | undefined, failure: string, done?: () => void): void {
    this.#failure = ''
    act?.then(done, (error) => {
      this.#failure = `${failure} ${this.#reason(error)}`
      this.#offerUndo(false)
      this.#source.announcer.say(this.#failure)
    })
  }

  #reason(error: unknown): string {
    const { errors } = this.#source.strings
    return errors[(error as { code?: string }).code ?? ''] ?? errors.other
  }
}

let made: CSSStyleSheet | undefined

/** One for all lists of a page. */
function styleSheet(): CSSStyleSheet {
  if (!made) {
    made = new CSSStyleSheet()
    made.replaceSync(inboxStyles)
  }
  return made
}
