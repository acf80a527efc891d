// Tables beside these pictures have the same facts, so a screen reader gets their titles alone.
import { html, svg, type TemplateResult } from 'lit'
import type { Row } from './operator-view.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs
const laneDays = 30
const laneHeight = 14
const heatDays = 28
const cell = 14

const marked = /password|factor|passkey|refused|disowned/
const wrong = /refused|disowned/

/** A bar for each sign-in, from its beginning to its last use, in the last 30 days. */
export function lanes(
  title: string,
  { signIns, trail }: { signIns: readonly Row[]; trail: readonly Row[] },
  now: number,
): TemplateResult {
  const since = now - laneDays * dayMs
  const place = (at: unknown) =>
    Math.max(0, (100 * (Date.parse(String(at)) - since)) / (now - since))
  const recent = signIns.filter(({ lastSeenAt }) => place(lastSeenAt) > 0)
  const marks = trail.filter(({ at, event }) => place(at) > 0 && marked.test(String(event)))
  const height = laneHeight * (recent.length + 2)
  return html`<svg class="lanes" role="img" aria-label=${title} height=${height}>
${marks.map(({ at, event }) => svg`<circle class=${wrong.test(String(event)) ? 'wrong' : ''} cx="${Math.min(99, place(at))}%" cy="6" r="4"><title>${event} ${at}</title></circle>`)}
${recent.map(
  ({ createdAt, lastSeenAt, device }, n) =>
    svg`<rect x="${Math.min(99, place(createdAt))}%" y=${laneHeight * (n + 1)} width="${Math.max(1, place(lastSeenAt) - place(createdAt))}%" height="8"><title>${device} ${createdAt}</title></rect>`,
)}
${[0, 7, 14, 21, 28].map((day) => svg`<text x="${(100 * day) / laneDays}%" y=${height - 4}>${dateOf(since + day * dayMs)}</text>`)}</svg>`
}

export type Attacks = { since: string; hours: { at: string; refusals: number }[]; addresses: Row[] }

/** Month and day, in UTC. */
function dateOf(at: number): string {
  return new Date(at).toISOString().slice(5, 10)
}

/** A column for each day, a row for each hour of it (UTC); more refusals are darker. */
export function heatMap(title: string, { since, hours }: Attacks): TemplateResult {
  const most = Math.max(1, ...hours.map(({ refusals }) => refusals))
  return html`<svg class="heat" role="img" aria-label=${title} viewBox="-16 0 ${16 + heatDays * cell} ${24 * cell + 12}">
<rect width=${heatDays * cell} height=${24 * cell}></rect>
${[0, 6, 12, 18].map((hour) => svg`<text x="-14" y=${hour * cell + 10}>${hour}</text>`)}
${[0, 7, 14, 21].map((day) => svg`<text x=${day * cell} y=${24 * cell + 10}>${dateOf(Date.parse(since) + day * dayMs)}</text>`)}
${hours.map(({ at, refusals }) => {
  const hour = (Date.parse(at) - Date.parse(since)) / hourMs
  return svg`<rect class="wrong" x=${Math.floor(hour / 24) * cell} y=${(hour % 24) * cell} width=${cell - 1} height=${cell - 1} opacity=${0.2 + (0.8 * refusals) / most}><title>${at}: ${refusals}</title></rect>`
})}</svg>`
}
