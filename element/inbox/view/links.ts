// The link of a notification: which ones are followed, and how.

/** The link if it is http, https or relative, which is all that the service accepts; the page may have it from elsewhere. */
export function safeLink(url: string | null): string | undefined {
  if (!url) return undefined
  try {
    return /^https?:$/.test(new URL(url, document.baseURI).protocol) ? url : undefined
  } catch {
    return undefined
  }
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
