// <account-sessions>: where the user is signed in. The address may name a sign-in, as a notice
// does: account#session-<id>.
import { html, nothing, type TemplateResult } from 'lit'
import { isCarillonError } from '../../../client/transport/errors.ts'
import { LoadedSection, type Page } from '../loaded-section.ts'
import { send } from '../requests.ts'

type SignIn = {
  id: string
  current: boolean
  device: string | null
  address: string | null
  createdAt: string
  lastSeenAt: string
}

const telephone = 'M7 2.5h10v19H7zM11 18.5h2'
const computer = 'M3 4.5h18v12H3zM8.5 20.5h7M12 16.5v4'

export class SessionsSection extends LoadedSection<Page<SignIn>> {
  override connectedCallback(): void {
    super.connectedCallback()
    addEventListener('hashchange', () => this.requestUpdate())
  }

  protected override read(after?: string): Promise<Page<SignIn>> {
    return this.account.send(`api/me/sessions${after ? `?after=${after}` : ''}`)
  }

  async #end({ id }: SignIn): Promise<void> {
    const work = () =>
      this.delete(`api/me/sessions/${id}`, { NOT_FOUND: ({ sessions }) => sessions.endedAlready })
    if (await this.act(work, (texts) => texts.sessions.ended)) await this.focusOn()
  }

  async #endOthers(): Promise<void> {
    const work = () => this.endOthers(this.texts.sessions.endOthersText)
    if (await this.act(work, (texts) => texts.sessions.othersEnded)) await this.focusOn()
  }

  async #disown(id: string): Promise<void> {
    const { disownTitle: title, disownText: text, disownAction: action } = this.texts.sessions
    const work = async () => {
      await this.ask({ title, text, action })
      try {
        await this.explained(this.#sendDisowned(id), {
          NOT_FOUND: ({ sessions }) => sessions.notYours,
        })
      } finally {
        await this.account.refresh()
      }
    }
    if (await this.act(work, (texts) => texts.sessions.disowned)) location.hash = 'password'
  }

  /** If the user has to confirm first, a newer sign-in is ended before the page asks. */
  async #sendDisowned(id: string): Promise<void> {
    const path = `api/me/sessions/${id}`
    try {
      await send(`${this.account.root}${path}/disown`, { method: 'POST' })
    } catch (error) {
      if (!isCarillonError(error, 'FRESH_SIGN_IN_REQUIRED')) throw error
      await send(this.account.root + path, { method: 'DELETE' }).catch(() => {})
      await this.account.send(`${path}/disown`, { method: 'POST' })
    }
  }

  protected override content(page: Page<SignIn>): TemplateResult {
    const { items } = page
    const { texts } = this
    const named = /^#session-([\da-f-]{36})$/.exec(location.hash)?.[1]
    const isElsewhere = named !== undefined && !items.some(({ id }) => id === named)
    return html`<p class="hint">${texts.sessions.intro}</p>
${isElsewhere ? this.#ended(named) : nothing}
<ul class="entries">${this.entries(items, (one) => this.#item(one))}</ul>
<p class="buttons">${this.moreButton(page, (after) => this.read(after))}${
      items.length < 2 ? nothing : this.button(texts.sessions.endOthers, this.#endOthers)
    }</p>
${this.outcome()}`
  }

  /** The sign-in of the address has ended, or is on a further page. */
  #ended(id: string): TemplateResult {
    const { sessions } = this.texts
    return html`<div id="session-${id}" class="notice card panel"><p>${sessions.linkedEnded}</p>
<p class="buttons">${this.button(sessions.disown, () => this.#disown(id), 'danger')}</p></div>`
  }

  #item(one: SignIn): TemplateResult {
    const { sessions } = this.texts
    const { id, current, device, address, createdAt, lastSeenAt } = one
    const name = this.deviceName(device)
    const which = html`<span class="for-readers"> ${name}${address && html`, ${address}`}</span>`
    const picture = /\b(Android|iOS|iPadOS)\b/.test(device ?? '') ? telephone : computer
    return html`<li id="session-${id}"><svg class="device" viewBox="0 0 24 24" aria-hidden="true"><path d=${picture}></path></svg>
<div class="about"><strong>${name}</strong>${
      current ? html` <span class="badge">${sessions.current}</span>` : nothing
    }<div class="hint facts">${address && html`<span>${address}</span>`}
<span>${sessions.signedIn(this.account.exact(createdAt))}</span>
${this.roughly(lastSeenAt, sessions.lastSeen)}</div></div>${
      current
        ? nothing
        : html`<div class="buttons">${this.button(html`${sessions.end}${which}`, () => this.#end(one))}
${this.button(html`${sessions.disown}${which}`, () => this.#disown(id), 'danger')}</div>`
    }</li>`
  }
}
