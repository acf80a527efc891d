// What the list displays beside or instead of its notifications.
import type { InboxSnapshot } from 'carillon-client'
import type { TemplateResult } from 'lit'
import type { InboxSource, Tab } from '../../inbox-source.ts'
import type { Strings } from '../../languages/en/inbox.ts'
import { html, nothing } from './loaded.ts'

type Trouble = { strings: Strings; failure: string; retry: () => void }
type Template = TemplateResult | symbol

export function signedOut(link: string, strings: Strings): TemplateResult {
  return html`<div part="signed-out">
    <p part="state-title">${strings.signedOutTitle}</p>
    <p>${strings.signedOutText}</p>
    <a part="sign-in" href=${link}>${strings.signIn}</a>
  </div>`
}

/** The banner is below the list, so that it moves nothing. */
export function banner(
  { state, error }: InboxSnapshot,
  { strings, failure, retry }: Trouble,
): Template {
  const isFailed = state === 'error' || (state === 'offline' && error?.status !== undefined)
  if (isFailed)
    return html`<div part="error">
      <p part="state-title">${strings.errorTitle}</p>
      <p>${reasonOf(error, strings)}</p>
      <button part="retry" type="button" @click=${retry}>${strings.tryAgain}</button>
    </div>`
  if (state === 'offline')
    return html`<div part="offline"><p part="state-title">${strings.offlineTitle}</p><p>${strings.offlineText}</p></div>`
  return failure ? html`<div part="error"><p>${failure}</p></div>` : nothing
}

type Shown = { tab: Tab; isPart: boolean; strings: Strings }

export function nothingShown(
  { state, hasMore }: InboxSnapshot,
  { tab, isPart, strings }: Shown,
): Template {
  if (state === 'loading') return html`<p part="loading">${strings.loading}</p>`
  if (state === 'error' || state === 'offline' || hasMore) return nothing
  const { none } = strings
  const [title, text] = isPart && tab === 'inbox' ? none.category : none[tab]
  return html`<slot name="empty"><div part="empty"><p part="state-title">${title}</p><p>${text}</p></div></slot>`
}

export function reasonOf(error: unknown, { errors }: Strings): string {
  return errors[(error as { code?: string }).code ?? ''] ?? errors.other
}

type Tabs = {
  source: InboxSource
  selected: Tab
  countOf(tab: Tab): number | undefined
  select(tab: Tab, isByKey: boolean): void
}

const usualTabs: readonly Tab[] = ['inbox', 'unread', 'archived']

/** https://www.w3.org/WAI/ARIA/apg/patterns/tabs/ */
export function tabBar({ source, selected, countOf, select }: Tabs): TemplateResult {
  const { strings } = source
  const tabs = usualTabs.includes(selected) ? usualTabs : [...usualTabs, selected]
  const onKey = (event: KeyboardEvent) => {
    const place = tabs.indexOf(selected)
    const step = strings.direction === 'rtl' ? -1 : 1
    const next = { ArrowRight: place + step, ArrowLeft: place - step, Home: 0, End: -1 }[event.key]
    if (next === undefined) return
    event.preventDefault()
    select(tabs.at(next % tabs.length) as Tab, true)
  }
  return html`<div part="tabs" role="tablist" aria-label=${strings.filter} @keydown=${onKey}>${tabs.map(
    (tab) => {
      const isSelected = tab === selected
      const count = countOf(tab)
      return html`<button part=${isSelected ? 'tab tab-selected' : 'tab'} type="button" role="tab" id=${tab} aria-selected=${isSelected}
      aria-controls="list" tabindex=${isSelected ? 0 : -1} @click=${() => select(tab, false)}
      >${strings[tab]} ${count ? html`<span part="tab-count">${strings.badge(count)}</span>` : nothing}</button>`
    },
  )}</div>`
}
