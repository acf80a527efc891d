// What the entry point has loaded already, and hands over: with imports of its own, the view would need a third file, which the page
// would wait for.
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
