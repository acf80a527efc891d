// The tabs above the list (https://www.w3.org/WAI/ARIA/apg/patterns/tabs/), each with the number of its notifications.
import type { TemplateResult } from 'lit'
import type { InboxSource, Tab } from '../../inbox-source.ts'
import type { Lit } from './item.ts'

type Setting = {
  lit: Lit
  source: InboxSource
  selected: Tab
  countOf(tab: Tab): number | undefined
  /** By a key, the tab gets the focus. */
  select(tab: Tab, isByKey: boolean): void
}

const usual: readonly Tab[] = ['inbox', 'unread', 'archived']

export function tabBar({ lit: { html, nothing }, source, selected, countOf, select }: Setting): TemplateResult {
  const { strings } = source
  // Snoozed ones are behind the menu of the list until the reader selects them.
  const tabs = usual.includes(selected) ? usual : [...usual, selected]
  const onKey = (event: KeyboardEvent) => {
    const forward = strings.direction === 'rtl' ? 'ArrowLeft' : 'ArrowRight'
    const step = event.key === forward ? 1 : /^Arrow(Left|Right)$/.test(event.key) ? -1 : 0
    const place = { Home: 0, End: -1 }[event.key] ?? (tabs.indexOf(selected) + step) % tabs.length
    if (!step && !/^(Home|End)$/.test(event.key)) return
    event.preventDefault()
    select(tabs.at(place) as Tab, true)
  }
  return html`<div part="tabs" role="tablist" aria-label=${strings.filter} @keydown=${onKey}>${tabs.map((tab) => {
    const isSelected = tab === selected
    const count = countOf(tab)
    return html`<button part=${isSelected ? 'tab tab-selected' : 'tab'} type="button" role="tab" id=${tab} aria-selected=${isSelected}
      aria-controls="list" tabindex=${isSelected ? 0 : -1} @click=${() => select(tab, false)}
      >${strings[tab]} ${count ? html`<span part="tab-count">${strings.badge(count)}</span>` : nothing}</button>`
  })}</div>`
}
