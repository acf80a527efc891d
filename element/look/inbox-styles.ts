// The look of <carillon-inbox>. Directions are logical, so a language that is written from right to left needs no rule of its own.

/** A text and not a style of Lit: the view imports nothing that the entry point imports too. */
const css = String.raw

export const inboxStyles: string = css`
:host {
  display: flex;
  flex-direction: column;
  max-inline-size: 100%;
  max-block-size: var(--carillon-max-height, none);
  overflow: clip;
  background: var(--_background);
  color: var(--_text);
  border: 1px solid var(--_border);
  border-radius: var(--_radius);
  font: max(0.9375rem, 14px) / 1.45 var(--_font);
  text-align: start;
  overflow-wrap: anywhere;
}
* { box-sizing: border-box; }
h2, p { margin: 0; font: inherit; }
[part='header'] { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: 0 0.5em; padding: 0.5em 1em 0.125em; }
[part='title'], [part='preferences-title'] { font-size: 1.125em; font-weight: 650; letter-spacing: -0.01em; }
[part='header-acts'] { display: flex; flex: 1 1 10em; justify-content: end; align-items: center; gap: 0.25em; margin-inline: -0.625em; }
[part='mark-all'] { padding-inline-start: 0.25em; line-height: 1.25; text-align: end; }
[part='tabs'], [part='bar'] { display: flex; gap: 1.25em; min-inline-size: 0; }
[part='tabs'] { gap: 0.75em; margin-inline: -0.25em; overflow-x: auto; scrollbar-width: none; }
/* The announcement of arrivals is not in the list, where it would cover a title. */
[part='bar'] {
  position: sticky;
  inset-block-start: 0;
  z-index: 2;
  justify-content: space-between;
  align-items: center;
  padding-inline: 1em;
  border-block-end: 1px solid var(--_border);
  background: var(--_background);
}
[part='root'], [part='list'] { display: flex; flex-direction: column; min-block-size: 0; }
/* A header of the page may set these. */
[part='root'] { letter-spacing: normal; text-indent: 0; text-shadow: none; text-transform: none; white-space: normal; }
[part='scroll'] { overflow: auto; overscroll-behavior: contain; }
[part='more'] { display: block; margin: 0.5em auto; }
[part='see-all'] { order: 2; padding: 0.625em 1em; border-block-start: 1px solid var(--_border); color: var(--_accent); text-align: center; }
svg { inline-size: 1.25em; block-size: 1.25em; fill: none; stroke: currentcolor; stroke-width: 1.75; stroke-linecap: round; stroke-linejoin: round; }
:is([part='item-more'], [part='list-more']) svg { stroke-width: 2.75; }

button, a { font: inherit; color: inherit; }
button, [part='sign-in'] {
  min-block-size: 2em;
  min-inline-size: 24px;
  padding: 0.25em 0.625em;
  border: 0;
  border-radius: 0.5em;
  background: none;
  color: var(--_accent);
  font-size: 0.9333em;
  font-weight: 550;
  text-align: center;
  cursor: pointer;
}
button:hover { background: var(--_hover); }
[aria-disabled='true'] { color: var(--_muted); cursor: default; }
[part='list-more'], [part='item-acts'] button, [part='item-toggle'] {
  --_target: 2em;
  flex: none;
  display: grid;
  place-items: center;
  inline-size: var(--_target);
  block-size: var(--_target);
  padding: 0;
  color: var(--_muted);
  @media (pointer: coarse) { --_target: 44px; }
}
[part='item-acts'] button:hover, [part='list-more']:hover, [aria-expanded='true'] { background: var(--_border); color: var(--_text); }
[aria-expanded='true'] { anchor-name: --carillon-menu; }
@media (pointer: coarse) {
  [part='header-acts'] { gap: 0; }
  button, [part='item-action'], [part='see-all'] { min-block-size: 44px; align-content: center; }
}
[part~='tab'] {
  flex: none;
  padding: 0.5em 0.25em;
  color: var(--_muted);
  border-radius: 0;
  border-block-end: 2px solid transparent;
  &:hover { background: none; color: var(--_text); }
  &:focus-visible { outline-offset: -2px; border-radius: 0.5em; }
}
[part='tab-count'] { margin-inline-start: 0.125em; color: var(--_muted); font-weight: 450; font-variant-numeric: tabular-nums; }
[part~='tab-selected'] { color: var(--_text); border-color: var(--_accent); }
[part='newer'], [part='sign-in'], [part='retry'] {
  padding-inline: 1em;
  border-radius: 2em;
  background: var(--_accent);
  color: var(--_background);
  text-decoration: none;
  &:hover { background: color-mix(in srgb, var(--_accent), var(--_text) 18%); }
}
[part='newer'] { flex: none; min-block-size: 24px; padding-block: 0; }
:focus { outline: none; }
:focus-visible { outline: 2px solid var(--_focus); outline-offset: 2px; }

[part='preferences'] {
  inline-size: min(40rem, calc(100vw - 2em));
  max-block-size: calc(100vh - 2em);
  padding: 1em;
  overflow: auto;
  border: 1px solid var(--_border);
  border-radius: var(--_radius);
  background: var(--_background);
  color: var(--_text);
  &::backdrop { background: rgb(0 0 0 / 45%); }
}
[part='preferences-table'] { inline-size: 100%; table-layout: fixed; border-collapse: collapse; margin-block: 0.75em; }
[part='preferences-table'] :is(th, td) { padding: 0.375em 0.5em 0.375em 0; border-block-end: 1px solid var(--_border); font-weight: inherit; text-align: start; }
[part='preferences-table'] small { display: block; color: var(--_muted); }
[part='preferences'] :is(select, input) { max-inline-size: 100%; min-block-size: 2em; font: inherit; color: inherit; background: var(--_background); border: 1px solid var(--_muted); border-radius: 0.375em; }
[part='preferences'] select { inline-size: 100%; }
[part='preferences-hours'] { display: grid; gap: 0.5em; }
[part='preferences-hours'] label:has([type='checkbox']) { display: flex; align-items: center; gap: 0.5em; }
[part='preferences-failure'] { min-block-size: 1.45em; }

[part~='item'], [part='item-look'], [part='empty'] { position: relative; }
[part~='item'] {
  display: flex;
  gap: 0.75em;
  padding: 0.5em 1em;
  line-height: 1.4;
  cursor: pointer;
  &:hover { background: var(--_hover); }
  &:hover [part='item-title'][href] { text-decoration: underline; text-underline-offset: 0.15em; }
  &:focus-visible { outline-offset: -2px; border-radius: 0.5em; }
  & + :is(&, [part='day']) { border-block-start: 1px solid var(--_border); }
}
[part='day'] { padding: 0.75em 1.1539em 0.25em; color: var(--_muted); font-size: 0.8667em; font-weight: 600; }
[part~='item-unread'] {
  background: var(--_unread);
  [part='item-title'] { font-weight: 650; }
  [part='unread-dot'] { background: var(--_accent); border-color: var(--_accent); }
}
[part='item-priority'] {
  position: absolute;
  inset-block: 0;
  inset-inline-start: 0;
  inline-size: 3px;
  background: var(--_accent);
}
[part='item-content'] { flex: 1; min-inline-size: 0; }
[part='item-head'] { display: flex; flex-wrap: wrap; gap: 0.125em 0.75em; }
/* The padding makes a line a target of 24 px, and the margin takes its room back. */
[part='item-title'] { flex: 1 1 11em; -webkit-line-clamp: 2; margin-block: -2px; padding-block: 2px; text-decoration: none; font-weight: 450; }
/* Each text has its own direction; all begin at the side where the list begins. */
[dir='ltr'] :is([part='item-title'], [part='item-summary']) { text-align: left; }
[dir='rtl'] :is([part='item-title'], [part='item-summary']) { text-align: right; }
[part='item-text'] { display: flex; align-items: end; gap: 0.5em; > div { min-inline-size: 0; } > :empty { display: none; } }
:is([part='item-title'], [part='item-summary']) { display: -webkit-box; overflow: hidden; -webkit-box-orient: vertical; }
[data-unfolded] [part='item-title'] { -webkit-line-clamp: none; }
[part='item-summary'] {
  -webkit-line-clamp: 1;
  color: var(--_muted);
  &:focus-within, [data-unfolded] & { -webkit-line-clamp: none; }
}
[part='item-unfold'] {
  display: none;
  flex: none;
  min-block-size: 24px;
  margin-block: -2px;
  padding: 0 0.25em;
  [data-folded] & { display: block; }
}
[part='item-link'] { color: var(--_accent); text-underline-offset: 0.15em; }
[part='item-body'] :is(strong, code) { color: var(--_text); }
code { padding: 0.1em 0.3em; border-radius: 0.3em; background: color-mix(in srgb, var(--_muted) 14%, transparent); font: 0.9em ui-monospace, monospace; }
[part='item-code-block'] { display: block; margin-block: 0.25em; padding: 0.5em 0.75em; white-space: pre-wrap; }
[part='item-look'], [part='item-icon'] { display: grid; place-items: center; border-radius: 50%; color: var(--_muted); font-weight: 600; }
[part='item-look'] {
  flex: none;
  inline-size: 1.75em;
  block-size: 1.75em;
  background: color-mix(in srgb, currentcolor 12%, var(--_background));
  > svg { inline-size: 1.125em; block-size: 1.125em; }
}
img { inline-size: 100%; block-size: 100%; border-radius: 50%; object-fit: cover; }
[part='item-icon'] {
  position: absolute;
  inset-block-end: -0.25em;
  inset-inline-end: -0.375em;
  padding: 0.175em;
  background: var(--_background);
  svg { inline-size: 0.9em; block-size: 0.9em; stroke-width: 2.25; }
}
[data-icon='error'] { color: var(--_error); }
[data-icon='warning'] { color: var(--_warning); }
[data-icon='check'], [data-icon='money'] { color: var(--_success); }
[data-icon='info'], [data-icon='message'], [data-icon='calendar'] { color: var(--_accent); }
/* The texts of items are in line, with an image or without. */
[part='feed']:has([part='item-look']) [part='item-toggle'] + [part='item-content'] { margin-inline-start: 2.5em; }
[part='item-details'] {
  display: flex;
  flex-wrap: wrap;
  justify-content: end;
  align-items: center;
  align-self: start;
  gap: 0.25em 0.625em;
  min-block-size: 1.6em;
  min-inline-size: 5.25em;
  color: var(--_muted);
  font-size: 0.8667em;
}
[part='item-count'], [part='item-category'] {
  max-inline-size: 12em;
  overflow: hidden;
  padding-inline: 0.5em;
  border-radius: 1em;
  border: 1px solid var(--_border);
  background: var(--_background);
  text-overflow: ellipsis;
  white-space: nowrap;
}
[part='item-body'] { white-space: pre-line; }
[part='item-actor'] { margin-inline-end: 0.25em; color: var(--_text); font-weight: 500; }
[part='item-actions'] { display: flex; flex-wrap: wrap; gap: 0.5em; margin-block-start: 0.375em; }
[part='item-action'] { padding: 0.125em 0.875em; border: 1px solid var(--_border); border-radius: 0.5em; background: var(--_background); color: var(--_text); }
[part='item-action'], [part='see-all'] { font-size: 0.9333em; font-weight: 550; text-decoration: none; }
[part='item-toggle'] {
  align-self: start;
  margin-block: calc((1.4em - var(--_target)) / 2);
  margin-inline: calc((0.75em - var(--_target)) / 2);
}
[part='unread-dot'] { inline-size: 0.75em; block-size: 0.75em; border: 2px solid transparent; border-radius: 50%; }
[part~='item']:is(:hover, :focus-within) [part='unread-dot'] { border-color: var(--_muted); }
[part~='item-unread'] [part='unread-dot'] { &, [part~='item']:is(:hover, :focus-within) & { border-color: var(--_accent); } }
[part='item-acts'] {
  position: absolute;
  inset-block-start: calc(0.5em + 0.7em - 1em);
  inset-inline-end: 0.625em;
  display: flex;
}
@media not (pointer: coarse) {
  [part~='item']:not(:hover, :focus-within, :has([aria-expanded='true'])) [part='item-acts'] { opacity: 0; }
  [part~='item']:is(:hover, :focus-within, :has([aria-expanded='true'])) [part='item-details'] > :not([part='item-priority']) { opacity: 0; }
}
/* A finger cannot hover. */
@media (pointer: coarse) {
  [part='unread-dot'] { border-color: var(--_border); }
  [part='item-acts'] { inset-block: auto 0; inset-inline-end: 0.25em; }
  [part='item-text'] { min-block-size: 40px; padding-inline-end: 88px; }
  [part='item-actions'] { flex-wrap: nowrap; }
  [part~='item']:has([part='item-actions']) [part='item-acts'] { inset-block-end: 52px; }
}
@media (width < 30rem) {
  [part='preferences-table'] {
    thead { position: absolute; clip-path: inset(50%); }
    :is(tr, th, td) { display: block; }
    :is(th, td) { border: 0; padding-block: 0.125em; }
    tr { padding-block: 0.375em; border-block-end: 1px solid var(--_border); }
    td::before { content: attr(data-name); color: var(--_muted); }
  }
  [part~='item'] { gap: 0.375em; padding-inline: 0.5em; }
  [part='item-head'] { align-items: start; }
  [part='item-details'] { display: contents; > * { font-size: 0.8667em; color: var(--_muted); } }
  [part='item-text'] { flex-wrap: wrap; place-content: start; align-items: start; > div { flex: 1 1 100%; } }
  [part='item-unfold'] { padding: 0; }
  [part='item-summary'] { -webkit-line-clamp: 2; }
  [part='feed']:has([part='item-look']) {
    [part='item-toggle'] { z-index: 1; margin-block-start: calc((0.9em - var(--_target)) / 2); margin-inline-end: calc((-0.5em - var(--_target)) / 2); }
    [part='unread-dot'] { box-shadow: 0 0 0 2px var(--_background); }
    [part='item-toggle'] + [part='item-content'] { margin-inline-start: 2.125em; }
  }
}

[part='empty'], [part='signed-out'], [part='loading'], [part='root']:not(:has(article)) :is([part='error'], [part='offline']) {
  display: grid;
  justify-items: center;
  gap: 0.25em;
  padding: 3em 1.5em;
  color: var(--_muted);
  text-align: center;
}
[part='empty']::before, [part='loading']::before {
  content: '';
  inline-size: 2.5em;
  block-size: 2.5em;
  margin-block-end: 0.5em;
  border: 2px solid var(--_border);
  border-radius: 50%;
}
[part='empty']::after {
  content: '';
  position: absolute;
  inset-block-start: 3.75em;
  inline-size: 0.5em;
  block-size: 0.875em;
  border: solid var(--_accent);
  border-width: 0 2px 2px 0;
  rotate: 45deg;
}
[part='loading']::before { border-block-start-color: var(--_accent); }
[part='state-title'] { color: var(--_text); font-weight: 650; }
[part='sign-in'], [part='retry'] { margin-block-start: 0.75em; }
[part='offline'], [part='error'] {
  padding: 0.625em 1em;
  background: var(--_hover);
  border-block-start: 1px solid var(--_border);
  font-size: 0.9333em;
}
[part='root']:not(:has(article)) :is([part='error'], [part='offline']) { background: none; border: 0; font-size: 1em; }
/* It is before the list for the keyboard, and moves nothing. */
[part='foot'] { position: sticky; inset-block-end: 0; z-index: 2; order: 1; flex: none; display: grid; }
[part='undo'] {
  display: flex;
  align-items: center;
  justify-self: center;
  gap: 1em;
  block-size: 2.75em;
  margin-block: -3.5em 0.75em;
  padding-inline: 1em 0.375em;
  border-radius: 0.625em;
  background: var(--_text);
  color: var(--_background);
  box-shadow: 0 2px 10px #0b0d2440;
}
[part='undo-button'] {
  color: inherit;
  text-decoration: underline;
  &:hover { background: none; }
}
[part='menu'] {
  position-anchor: --carillon-menu;
  padding: 0.375em;
  max-inline-size: min(26em, 100vw - 16px);
  border: 1px solid var(--_border);
  border-radius: 0.75em;
  background: var(--_background);
  color: var(--_text);
}
[part~='menu-item'] { display: flex; align-items: center; justify-content: space-between; gap: 1em; inline-size: 100%; color: inherit; font-weight: 450; text-align: start; }
[part~='menu-item-final'] { color: var(--_error); }
[part~='menu-item']:is(:hover, :focus), [part='see-all']:hover, [part='item-action']:hover { background: var(--_hover); }
[part='menu-detail'] { color: var(--_muted); }

@media (prefers-reduced-motion: no-preference) {
  [part='loading']::before { animation: turn 1s linear infinite; }
  @keyframes turn { to { rotate: 1turn; } }
}
@media (forced-colors: active) {
  button, [part='sign-in'] { border: 1px solid; }
  [part='mark-all'] { margin: 0; }
  [part~='tab'] { border: 0; }
  [part~='tab-selected'] { border-block-end: 3px solid Highlight; }
  [part~='item-unread'] [part='unread-dot'], [part='item-priority'] { forced-color-adjust: none; background: Highlight; }
}
`
