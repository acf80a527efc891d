// The link of a notification: which ones are followed, and how.

/** An http or https URL without a user name, or a path. Browsers read a backslash as a slash and strip tabs and line breaks. */
const safe = /^(?:https?:\/\/[^\s\\/?#@]+(?:[/?#][^\s\\]*)?|\/(?!\/)[^\s\\]*)$/i

/** The link if the service accepts it as the link of a notification. A Markdown text may have others, and so may a page's own data. */
export function safeLink(url: string | null): string | undefined {
  return url && safe.test(url) ? url : undefined
}

/** The browser is to open the link in another tab or window, or to download it. */
export function isModified(event: MouseEvent | KeyboardEvent): boolean {
  const { ctrlKey, metaKey, shiftKey, altKey } = event
  return ctrlKey || metaKey || shiftKey || altKey || ('button' in event && event.button > 0)
}

/** As if the reader had clicked the link itself, with the same keys held. */
export function follow(link: string, event: MouseEvent | KeyboardEvent): void {
  const anchor = document.createElement('a')
  anchor.href = link
  anchor.dispatchEvent(new MouseEvent('click', event))
}
