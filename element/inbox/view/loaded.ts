// What the entry point hands over to the view, so that the view needs no third file.
import type * as Lit from 'lit'
import type * as Entry from '../carillon-inbox.ts'

type Loaded = Pick<typeof Lit, 'html' | 'nothing' | 'render'> & Pick<typeof Entry, 'placeBeside'>

export let html: Loaded['html']
export let nothing: Loaded['nothing']
export let render: Loaded['render']
export let placeBeside: Loaded['placeBeside']

export function handOver(loaded: Loaded): void {
  html = loaded.html
  nothing = loaded.nothing
  render = loaded.render
  placeBeside = loaded.placeBeside
}
