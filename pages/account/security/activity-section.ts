// <account-activity>: what the audit log says about the user, newest first, in words.
import { html, nothing, type TemplateResult } from 'lit'
import { LoadedSection, type Page } from '../loaded-section.ts'

type Entry = {
  id: string
  at: string
  event: string
  actor: 'user' | 'application' | 'operator' | 'provider' | 'service'
  address: string | null
  device: string | null
  signInId: string | null
  count: number
  detail: { method?: string }
}

const pageSize = 10

export class ActivitySection extends LoadedSection<Page<Entry>> {
  protected override read(after?: string): Promise<Page<Entry>> {
    return this.account.send(`api/me/activity?limit=${pageSize}${after ? `&after=${after}` : ''}`)
  }

  protected override content(page: Page<Entry>): TemplateResult {
    const { texts } = this
    return html`<p class="hint">${texts.activity.intro} <a href="#password">${texts.activity.setPassword}</a></p>
<ol class="entries">${this.entries(page.items, (one) => this.#item(one))}</ol>
<p class="buttons">${this.moreButton(page, (after) => this.read(after))}</p>
${this.outcome()}`
  }

  #item(entry: Entry): TemplateResult {
    const { id, at, event, signInId, count } = entry
    const { activity } = this.texts
    const title = wordsFor(activity.events, event) ?? activity.other(event)
    return html`<li id="activity-${id}"><div class="about"><strong>${title}</strong>${count > 1 ? html` <span class="badge">${activity.times(count)}</span>` : nothing}
<div class="hint facts"><span>${this.account.exact(at)}</span>${this.#facts(entry).map((fact) => html` <span>${fact}</span>`)}</div></div>${
      event === 'sign-in' && signInId !== null
        ? html`<a href="#session-${signInId}">${activity.wasNotMe}</a>`
        : nothing
    }</li>`
  }

  #facts({ actor, address, device, detail }: Entry) {
    const { by, methods } = this.texts.activity
    const how = wordsFor(methods, detail.method ?? '')
    const who =
      actor === 'user' ? [device && this.deviceName(device), address] : [wordsFor(by, actor)]
    return [how, ...who].filter(Boolean)
  }
}

/** Undefined for a name of a newer service. */
function wordsFor(words: Readonly<Record<string, string>>, name: string): string | undefined {
  return Object.hasOwn(words, name) ? words[name] : undefined
}
