/** Browsers have a clipboard on HTTPS and on localhost only. `around` has the words as data. */
export function addCopyButtons(around: HTMLElement): void {
  const { copy = '', copied = '', notCopied = '' } = around.dataset
  const { lang } = document.documentElement
  for (const example of around.querySelectorAll('pre')) {
    const button = document.createElement('button')
    Object.assign(button, { type: 'button', textContent: copy, lang, ariaLive: 'polite' })
    button.addEventListener('click', async () => {
      try {
        await navigator.clipboard.writeText(example.textContent)
        button.textContent = copied
      } catch {
        button.textContent = notCopied
      }
    })
    example.after(button)
  }
}
