// A button after each example of a page, which copies it.

/** `around` has the words of the buttons as data attributes. */
export function addCopyButtons(around: HTMLElement): void {
  const { copy = '', copied = '', notCopied = '' } = around.dataset
  const { lang } = document.documentElement
  for (const example of around.querySelectorAll('pre')) {
    const button = document.createElement('button')
    Object.assign(button, { type: 'button', textContent: copy, lang, ariaLive: 'polite' })
    button.addEventListener('click', async () => {
      button.textContent = (await copyText(example.textContent)) ? copied : notCopied
    })
    example.after(button)
  }
}

/** False if the browser refuses: browsers have a clipboard on HTTPS and on localhost only. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return false
  }
}
