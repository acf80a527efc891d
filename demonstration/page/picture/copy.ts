// Copies a text, or a picture as a file with its look written into its elements.
import { keyed } from 'lit/directives/keyed.js'
import { html } from 'lit/html.js'
import type { Texts } from '../../texts/texts.ts'

const looks = [
  'fill',
  'stroke',
  'stroke-width',
  'stroke-dasharray',
  'opacity',
  'font-size',
  'font-weight',
  'font-family',
]

export function copySvgView(texts: Texts) {
  return copyView(texts, texts.copySvg, pictureBeside)
}

function pictureBeside(button: HTMLElement): string {
  const picture = button.closest('figure, .lane')?.querySelector('.canvas > svg, .plot')
  if (!picture) return ''
  const clone = picture.cloneNode(true) as Element
  const copies = [clone, ...clone.querySelectorAll('*')]
  // The copy goes into a document or a slide, which are light.
  const page = document.documentElement
  page.style.colorScheme = 'light'
  for (const [at, original] of [picture, ...picture.querySelectorAll('*')].entries()) {
    const style = getComputedStyle(original)
    for (const look of looks) copies[at]?.setAttribute(look, style.getPropertyValue(look))
    copies[at]?.removeAttribute('class')
  }
  page.style.colorScheme = ''
  return new XMLSerializer().serializeToString(clone).replaceAll(/<!--[?\w$]*-->/g, '')
}

type Source = string | ((button: HTMLElement) => string)

/**
 * Plain HTTP beyond localhost has no clipboard, so the text is selected. The view is keyed by
 * source: of another, nothing was copied yet.
 */
export function copyView(texts: Texts, label: string, source: Source) {
  const press = async ({ currentTarget }: Event) => {
    const button = currentTarget as HTMLElement
    const [outcome, shown] = button.parentElement?.querySelectorAll<HTMLElement>('span, pre') ?? []
    if (!outcome || !shown) return
    shown.textContent = typeof source === 'string' ? source : source(button)
    try {
      await navigator.clipboard.writeText(shown.textContent)
      outcome.textContent = texts.copied
    } catch {
      outcome.textContent = texts.notCopied
      shown.hidden = false
      shown.focus()
      getSelection()?.selectAllChildren(shown)
    }
  }
  return keyed(
    source,
    html`<div class="copy">
      <button type="button" @click=${press}>${label}</button>
      <span role="status" class="hint"></span>
      <pre class="command" tabindex="0" hidden></pre>
    </div>`,
  )
}
