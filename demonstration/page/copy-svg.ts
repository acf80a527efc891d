// A picture as a file of its own: the look that style sheets give it is written into its elements.
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

export function pictureBeside(button: HTMLElement): string {
  const picture = button.closest('figure, .lane')?.querySelector('.canvas > svg, .plot')
  if (!picture) return ''
  const copy = picture.cloneNode(true) as Element
  const copies = [copy, ...copy.querySelectorAll('*')]
  for (const [at, original] of [picture, ...picture.querySelectorAll('*')].entries()) {
    const style = getComputedStyle(original)
    for (const look of looks) copies[at]?.setAttribute(look, style.getPropertyValue(look))
    copies[at]?.removeAttribute('class')
  }
  return new XMLSerializer().serializeToString(copy).replaceAll(/<!--[?\w$]*-->/g, '')
}
