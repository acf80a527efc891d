// The reader edits the token, and the other server, with only the public key, checks each change.
import { html } from 'lit/html.js'
import type { Exchange } from '../../server/api.ts'
import type { Stage } from '../demonstration-page.ts'
import { statusOf } from '../picture/hops.ts'
import { elsewhere, type World, WorldError } from '../world.ts'
import { tokenParts, withName } from './proof-parts.ts'

export class SignatureCheck {
  text = ''
  outcome: Exchange | undefined
  real = ''
  readonly #world: World

  constructor(world: World) {
    this.#world = world
  }

  begin(token: string): void {
    if (token === this.real) return
    this.real = token
    void this.edit(token)
  }

  async edit(wanted: string): Promise<void> {
    // A field of a request has no other characters.
    const text = wanted.replaceAll(/[^\w.-]/g, '')
    this.text = text
    this.outcome = undefined
    this.#world.changed()
    const send = () => this.#world.send('token', { ...elsewhere, token: text || '-' })
    const sent = await this.#world.alone(send).catch((error: unknown) => {
      if (!(error instanceof WorldError)) throw error
    })
    if (!sent || text !== this.text) return
    this.outcome = sent
    this.#world.changed()
  }
}

export function signatureView({ texts, isWide, check }: Stage) {
  const { signature } = texts
  const { text, outcome } = check
  const isBad = outcome !== undefined && statusOf(outcome) !== 200
  const name = tokenParts(text)?.claims.find((claim) => claim.name === 'preferred_username')?.value
  const edit = ({ target }: Event) => void check.edit((target as HTMLTextAreaElement).value)
  return html`<details class="fold card signature" ?open=${isWide}>
    <summary>${signature.title}</summary>
    <p>${texts.tryForge}</p>
    <label for="edited-token">${signature.label}</label>
    <textarea id="edited-token" rows="4" spellcheck="false" autocomplete="off" autocapitalize="off"
      aria-invalid=${isBad} aria-describedby="signature-outcome" .value=${text} @input=${edit}></textarea>
    <p id="signature-outcome" role="status" class=${isBad ? 'fault' : 'done'}>${outcomeText(texts, outcome)}</p>
    <p class="hint">${signature.says}<b>${name ?? '?'}</b></p>
    <p class="buttons">
      <button type="button" @click=${() => void check.edit(withName(check.real, 'admin'))}>${signature.forge}</button>
      <button type="button" @click=${() => void check.edit(check.real)}>${signature.restore}</button>
    </p>
  </details>`
}

function outcomeText(texts: Stage['texts'], outcome: SignatureCheck['outcome']) {
  const { signature, key, sending } = texts
  if (outcome === undefined) return sending
  if (statusOf(outcome) !== 200) return signature.invalid
  const { algorithm = '?', kid = '?' } =
    outcome.steps.find(({ name }) => name === 'signatures.check') ?? {}
  return `${signature.valid}${algorithm}, ${key} ${kid.slice(0, 8)}`
}
