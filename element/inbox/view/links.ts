// The link of a notification: which ones are followed, and how.

/** An http or https URL without a user name, or a path. Browsers read a backslash as a slash and strip tabs and line breaks. */
const safe = /^(?:https?:\/\/[^\s\\/?#@]+(?:[/?#][^\s\\]*)?|\/(?!\/)[^\s\\]*)$/i

/** Undefined for a link that the service would refuse: a Markdown text may have one. */
export function safeLink(url: string | null): string | undefined {
  return url && safe.test(url) ? url : undefined
}

export function isModified(event: MouseEvent | KeyboardEvent): boolean {
  const { ctrlKey, metaKey, shiftKey, altKey } = event
  return ctrlKey || metaKey || shiftKey || altKey || ('button' in event && event.button > 0)
}

export function follow(link: string, event: MouseEvent | KeyboardEvent): void {
  const anchor = document.createElement('a')
  anchor.href = link
  anchor.dispatchEvent(new MouseEvent('click', event))
}
