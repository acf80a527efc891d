// The drawing of Carillon has the page's accent (pages/look/page.css).
import { html } from './html.ts'

export const drawing = html`<svg class="drawing" viewBox="0 0 164 108" aria-hidden="true"><path fill="none" d="M12 106V14M152 106V14M4 14h156M42 14v28M80 14v24M113 14v20M137 14v16"/>
<path d="M24 76c7-5 5-34 18-34s11 29 18 34zM65 66c6-4 4-28 15-28s9 24 15 28zM101 56c5-3 4-22 12-22s7 19 12 22zM128 47c4-3 3-17 9-17s5 14 9 17z"/>
<path d="M38 76a4 4 0 0 0 8 0zM76.5 66a3.5 3.5 0 0 0 7 0zM110 56a3 3 0 0 0 6 0zM134.5 47a2.5 2.5 0 0 0 5 0z"/></svg>`
