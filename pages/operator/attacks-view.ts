// Refused sign-ins: when, and from which addresses.
import { html, type TemplateResult } from 'lit'
import type { Page } from '../account/loaded-section.ts'
import { OperatorView } from './operator-view.ts'
import { type Attacks, heatMap } from './pictures.ts'

export class AttacksView extends OperatorView<Attacks> {
  protected override async read(): Promise<Page<Attacks>> {
    return { items: [await this.call<Attacks>('attacks')], next: null }
  }

  protected override content({ items }: Page<Attacks>): TemplateResult {
    const { attacks } = this.own
    const found = items[0] as Attacks
    const rows = found.hours.toReversed()
    return html`<p class="hint">${attacks.hint}</p>${heatMap(attacks.title, found)}
<details><summary>${this.own.now.numbers}</summary>${this.table(attacks.title, { rows, columns: ['at', 'refusals'], empty: attacks.empty })}</details>
<h3>${attacks.addresses}</h3>${this.table(attacks.addresses, { rows: found.addresses, columns: ['address', 'refusals'], empty: attacks.empty })}`
  }
}
