// The design as custom properties. A page sets those that begin with --carillon-, on the element or around it; the styles use only the
// private ones, --_. In both themes, defaults have a contrast of 4.5:1 for text and 3:1 for controls (WCAG 2.2, 1.4.3 and 1.4.11).
import { css } from 'lit'

export const tokens = css`
:host {
  --_accent: var(--carillon-accent, light-dark(#4446d4, #a9b1ff));
  --_background: var(--carillon-background, light-dark(#fff, #18191f));
  --_text: var(--carillon-text, light-dark(#1a1b25, #ededf3));
  --_muted: var(--carillon-muted, light-dark(#5c5f72, #a2a5b6));
  --_border: var(--carillon-border, light-dark(#e4e5ec, #2f313c));
  --_hover: var(--carillon-hover, color-mix(in srgb, var(--_accent) 6%, var(--_background)));
  --_unread: var(--carillon-unread, transparent);
  --_badge: var(--carillon-badge-background, #d3261b);
  --_badge-text: var(--carillon-badge-text, #fff);
  --_error: light-dark(#b3261e, #ff9d95);
  --_warning: light-dark(#8a5300, #f0b45a);
  --_success: light-dark(#1a6b3c, #7fd6a0);
  --_radius: var(--carillon-radius, 14px);
  --_focus: var(--carillon-focus, var(--_accent));
  --_font: var(--carillon-font, system-ui, sans-serif);
  --_shadow: var(--carillon-shadow, 0 0 1px #0b0d2433, 0 4px 12px #0b0d2414, 0 16px 40px #0b0d2429);
}
@media (prefers-contrast: more) {
  :host {
    --_muted: var(--_text);
    --_border: currentcolor;
  }
}
:host([hidden]) { display: none; }
[part='status'] { position: absolute; inline-size: 1px; block-size: 1px; overflow: clip; clip-path: inset(50%); }
/* Turns to another side if there is more room, and is shifted into the window (https://www.w3.org/TR/css-anchor-position-1/). */
:is([part='menu'], [part='panel']) {
  position: fixed;
  inset: auto;
  margin: 0;
  box-shadow: var(--_shadow);
  position-area: block-end span-inline-start;
  position-try-fallbacks: flip-block, flip-inline, flip-block flip-inline;
}
`

export const themes = css`
:host { color-scheme: light dark; }
:host([theme='light']) { color-scheme: light; }
:host([theme='dark']) { color-scheme: dark; }
`
