import { html, type TemplateResult } from 'lit'
import { OperatorView } from './operator-view.ts'
import { type Attacks, heatMap } from './pictures.ts'

export class AttacksView extends OperatorView<Attacks> {
  protected override read(): Promise<Attacks> {
    return this.call('attacks')
  }

  protected override content(found: Attacks): TemplateResult {
    const { attacks } = this.own
    const { empty } = attacks
    return html`<p class="hint">${attacks.hint}</p>${heatMap(attacks.title, found)}
${this.numbers(attacks.title, { rows: found.hours.toReversed(), empty })}
${this.section(attacks.addresses, { rows: found.addresses, empty })}`
  }
}
