// Where the panel opens: beside the bell, and inside the window. CSS anchor positioning does it
// (https://www.w3.org/TR/css-anchor-position-1/); in a browser without it, a script.
import { css } from 'lit'

const gap = 8

/** The position turns to another side if there is more room, and is shifted into the window if no side has enough. */
export const placementStyles = css`
@supports (position-area: end) {
  [part~='bell'] { anchor-name: --carillon-bell; }
  [part~='panel'] {
    position-anchor: --carillon-bell;
    position-area: block-end span-inline-start;
    position-try-fallbacks: flip-block, flip-inline, flip-block flip-inline;
    margin-block: ${gap}px;
  }
  @media (width < 416px) { [part~='panel'] { margin-inline: ${gap}px; } }
  :host([placement='bottom-start']) [part~='panel'] { position-area: block-end span-inline-end; }
  :host([placement='top-start']) [part~='panel'] { position-area: block-start span-inline-end; }
  :host([placement='top-end']) [part~='panel'] { position-area: block-start span-inline-start; }
}
`

/** Does nothing if the styles have placed the panel. */
export function placeBeside(bell: HTMLElement, panel: HTMLElement): void {
  if (CSS.supports('position-area: end')) return
  const around = bell.getBoundingClientRect()
  const { width, height } = panel.getBoundingClientRect()
  const isRightToLeft = getComputedStyle(bell).direction === 'rtl'
  const left = isRightToLeft ? around.left : around.right - width
  const isBelow = around.bottom + gap + height <= innerHeight || around.top < height
  panel.style.left = `${Math.max(gap, Math.min(left, innerWidth - width - gap))}px`
  panel.style.top = `${isBelow ? around.bottom + gap : around.top - gap - height}px`
}
