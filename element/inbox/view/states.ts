// What the list displays in place of notifications, or below them: nothing there, signed out, no connection, an error.
import type { InboxSnapshot } from 'carillon-client'
import type { TemplateResult } from 'lit'
import type { Tab } from '../../inbox-source.ts'
import type { Strings } from '../../languages/en/inbox.ts'
import type { Lit } from './item.ts'

/** `failure`: why the last act was taken back, or ''. */
export type Stating = { lit: Lit; strings: Strings; failure: string; retry: () => void }
type Template = TemplateResult | symbol

export function signedOut(link: string, { lit: { html }, strings }: Stating): TemplateResult {
  return html`<div part="signed-out">
    <p part="state-title">${strings.signedOutTitle}</p>
    <p>${strings.signedOutText}</p>
    <a part="sign-in" href=${link}>${strings.signIn}</a>
  </div>`
}

/** Below the list, so that it moves nothing that the reader reads. */
export function banner({ state, error }: InboxSnapshot, { lit, strings, failure, retry }: Stating): Template {
  const { html, nothing } = lit
  // The server may also respond, but not as it should.
  if (state === 'offline')
    return html`<div part="offline"><p part="state-title">${error?.status ? reasonOf(error, strings) : strings.offlineTitle}</p><p>${strings.offlineText}</p></div>`
  if (state === 'error')
    return html`<div part="error">
      <p part="state-title">${strings.errorTitle}</p>
      <p>${reasonOf(error, strings)}</p>
      <button part="retry" type="button" @click=${retry}>${strings.tryAgain}</button>
    </div>`
  return failure ? html`<div part="error"><p>${failure}</p></div>` : nothing
}

export function nothingShown(tab: Tab, { state, hasMore }: InboxSnapshot, { lit, strings }: Stating): Template {
  const { html, nothing } = lit
  if (state === 'loading') return html`<p part="loading">${strings.loading}</p>`
  if (state === 'error' || state === 'offline' || hasMore) return nothing
  const title = { inbox: strings.emptyTitle, unread: strings.noUnreadTitle, ...strings.noneAway }[tab]
  const text = { inbox: strings.emptyText, unread: strings.noUnreadText, archived: '', snoozed: '' }[tab]
  return html`<slot name="empty"><div part="empty"><p part="state-title">${title}</p><p>${text}</p></div></slot>`
}

export function reasonOf(error: unknown, { errors }: Strings): string {
  return errors[(error as { code?: string }).code ?? ''] ?? errors.other
}
