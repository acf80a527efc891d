import type { Notification } from 'carillon-client'
import type { CarillonInbox } from '../carillon-inbox.ts'

/** An http or https URL without a user name, or a path. Browsers read a backslash as a slash and strip tabs and line breaks. */
const safe = /^(?:https?:\/\/[^\s\\/?#@]+(?:[/?#][^\s\\]*)?|\/(?!\/)[^\s\\]*)$/i

/** Undefined for a link that the service would refuse: a Markdown text may have one. */
export function safeLink(url: string | null): string | undefined {
  return url && safe.test(url) ? url : undefined
}

/**
 * A click with Ctrl or the middle button opens another tab. False if the click selects a text, or
 * if the page opens the notification itself.
 */
export function openItem(
  host: CarillonInbox,
  notification: Notification,
  event: MouseEvent | KeyboardEvent,
): boolean {
  const isOnLink = (event.target as Element).closest('a')
  if (!isOnLink && 'button' in event && (event.button || String(getSelection()))) return false
  const url =
    isOnLink?.matches('[part=item-action],[part=item-link]') && isOnLink.getAttribute('href')
  const detail = url ? { ...notification, url } : notification
  const init = { bubbles: true, composed: true, cancelable: true, detail }
  if (!isModified(event) && !host.dispatchEvent(new CustomEvent('carillon-open', init))) {
    event.preventDefault()
    return false
  }
  const link = safeLink(notification.url)
  if (link && !isOnLink) follow(link, event)
  return true
}

function isModified(event: MouseEvent | KeyboardEvent): boolean {
  const { ctrlKey, metaKey, shiftKey, altKey } = event
  return ctrlKey || metaKey || shiftKey || altKey || ('button' in event && event.button > 0)
}

function follow(link: string, event: MouseEvent | KeyboardEvent): void {
  const anchor = document.createElement('a')
  anchor.href = link
  anchor.dispatchEvent(new MouseEvent('click', event))
}
