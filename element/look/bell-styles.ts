// The look of <carillon-bell>. The button takes colour and background from the page around it; only the panel has a theme.
import { css } from 'lit'
import { tokens } from './tokens.ts'

export const bellStyles = [
  tokens,
  css`
:host { display: inline-block; vertical-align: middle; font-size: max(1rem, 16px); }
[part='bell'] {
  position: relative;
  display: grid;
  place-items: center;
  inline-size: 2.5em;
  block-size: 2.5em;
  padding: 0;
  border: 0;
  border-radius: 50%;
  background: none;
  color: inherit;
  font: inherit;
  cursor: pointer;
  &:hover, &[aria-expanded='true'] { background: color-mix(in srgb, currentcolor 9%, transparent); }
  &:focus-visible { outline: 2px solid var(--carillon-focus, currentcolor); outline-offset: 2px; }
  svg { inline-size: 1.375em; block-size: 1.375em; }
}
[part='badge'] {
  position: absolute;
  /* It must not cover the bell. */
  inset-block-start: -0.1em;
  inset-inline-start: 2.1em;
  box-sizing: border-box;
  min-inline-size: 1.6em;
  padding-inline: 0.4em;
  border-radius: 1em;
  background: var(--_badge);
  color: var(--_badge-text);
  font: 650 0.6875em / 1.6 var(--_font);
  text-align: center;
  font-variant-numeric: tabular-nums;
  &:empty { display: none; }
}
[part='panel'] {
  color-scheme: light dark;
  box-sizing: border-box;
  padding: 0;
  inline-size: min(var(--carillon-width, max(25rem, 400px)), 100vw - 16px);
  /* 100 % is what is free on the selected side of the bell. With less than 12rem, the other side is tried. */
  max-block-size: min(var(--carillon-max-height, max(40rem, 640px)), max(100% - 16px, min(12rem, 100dvh - 16px)));
  border: 0;
  border-radius: var(--_radius);
  background: none;
  &:popover-open { display: flex; flex-direction: column; overflow: visible; }
}
[part='inbox'] { min-block-size: 0; }
:host([theme='light']) [part='panel'] { color-scheme: light; }
:host([theme='dark']) [part='panel'] { color-scheme: dark; }
@supports (position-area: end) {
  [part='bell'] { anchor-name: --carillon-bell; }
  [part='panel'] { position-anchor: --carillon-bell; margin: 8px; }
  :host([placement='bottom-start']) [part='panel'] { position-area: block-end span-inline-end; }
  :host([placement='top-start']) [part='panel'] { position-area: block-start span-inline-end; }
  :host([placement='top-end']) [part='panel'] { position-area: block-start span-inline-start; }
  /* Firefox forgets the margin of a panel that is wider than its area. */
  @media (max-width: 416px) {
    [part='panel'], :host([placement='bottom-start']) [part='panel'] { position-area: block-end span-all; }
    :host([placement^='top']) [part='panel'] { position-area: block-start span-all; }
  }
}
@media (prefers-reduced-motion: no-preference) {
  [part='panel'] { transition: opacity 0.14s, translate 0.14s; }
  @starting-style { [part='panel']:popover-open { opacity: 0; translate: 0 -0.25rem; } }
}
@media (forced-colors: active) {
  [part='badge'], [part='bell'] { border: 1px solid; }
}
`,
]
