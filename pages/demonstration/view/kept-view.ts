// What each side keeps after a step: the browser its proof, the server its rows.
import { html, nothing } from 'lit/html.js'
import { changesOf, type KeptRow } from '../kept-rows.ts'
import { cookieSentBy, cookieSetBy, tokenParts, tokenSentBy } from '../proof-parts.ts'
import type { Results } from '../steps.ts'
import type { Lane, Row, Sent } from '../world.ts'
import { cookieText, tokenText } from './proof-text.ts'
import { isTime, type Stage, timeOf } from './stage.ts'

/** `signedIn`: the exchange of the sign-in; undefined before it. `sent`: of this step; an experiment may have replaced the proof since. */
export function browserView(stage: Stage, lane: Lane, { signedIn, sent }: { signedIn: Sent | undefined; sent: Sent }) {
  if (signedIn === undefined) return html`<p class="empty">${stage.texts.nothingInBrowser}</p>`
  return lane === 'session' ? cookieView(stage, signedIn, sent) : tokenView(stage, signedIn, sent)
}

function cookieView({ texts, visit }: Stage, signedIn: Sent, { exchange }: Sent) {
  const cookie = cookieSetBy(signedIn.exchange, visit.cookieName)
  if (cookie === undefined) return html`<p class="empty">${texts.nothingInBrowser}</p>`
  return html`<div class="thing">
    <h4>${texts.cookieInBrowser}</h4>
    <code class="block">${cookieText(cookieSentBy(exchange, visit.cookieName) ?? `${cookie.name}=${cookie.value}`)}</code>
    <ul class="chips">
      ${cookie.parts.slice(3).map(({ name, value }) => html`<li>${name}${value && `=${value}`}</li>`)}
    </ul>
  </div>
  <p class="note">${texts.cookieNote}</p>`
}

function tokenView({ texts, language }: Stage, { data }: Sent, { exchange }: Sent) {
  const token = tokenSentBy(exchange) ?? (data as { token?: string } | undefined)?.token
  const expiresAt = tokenParts(token ?? '')?.claims.find(({ name }) => name === 'exp')?.time
  if (token === undefined) return html`<p class="empty">${texts.nothingInBrowser}</p>`
  return html`<div class="thing">
    <h4>${texts.tokenInBrowser}</h4>
    <code class="block">${tokenText(token)}</code>
    ${expiresAt && html`<p class="note">${texts.validUntil}${timeOf(expiresAt, language)}</p>`}
  </div>
  <p class="note">${texts.tokenNote}</p>`
}

/** The rows that belong to the proof of the lane, then what else the request changed. */
export function serverView(stage: Stage, lane: Lane, { results, sent }: { results: Results; sent: Sent }) {
  const signedIn = results.get('sign-in')?.[lane]
  const changes = changesOf(sent.exchange)
  const ofProof = rowsOfProof(lane, signedIn === undefined || isBefore(sent, signedIn) ? undefined : signedIn, sent)
  const others = changes.filter(({ table }) => table !== 'session')
  return html`${ofProof.length > 0 ? ofProof.map((row) => sessionView(stage, row)) : nothingView(stage, lane, sent)}
    ${others.map((row) => changeView(stage, row))}`
}

const isBefore = (one: Sent, other: Sent) => one.exchange.n < other.exchange.n

/** The row of the session as it is after this request: the newest, if an experiment has signed in anew. */
function rowsOfProof(lane: Lane, signedIn: Sent | undefined, { exchange }: Sent): KeptRow[] {
  if (lane === 'token' || signedIn === undefined) return []
  const stored = changesOf(signedIn.exchange).filter(({ table, kind }) => table === 'session' && kind === 'new')
  const hashes = stored.map(({ columns }) => columns.secret_hash)
  const sessions = exchange.rows.after.filter(({ table }) => table === 'session')
  const newest = sessions.toSorted((one, other) => Number(other.columns.created_at) - Number(one.columns.created_at))
  const row = sessions.find(({ columns }) => hashes.includes(columns.secret_hash ?? null)) ?? newest[0]
  if (row === undefined) return []
  const change = changesOf(exchange).find((one) => isSame(one, row))
  return [change ?? { ...row, kind: 'changed', changed: [], earlier: row.columns }]
}

const isSame = (one: Row, other: Row) =>
  one.table === other.table && one.columns.secret_hash === other.columns.secret_hash

function nothingView({ texts }: Stage, lane: Lane, { exchange }: Sent) {
  const isSignIn = lane === 'token' && exchange.request.line.includes('/login')
  if (isSignIn || exchange.request.fields.some(([name]) => name.toLowerCase() === 'authorization'))
    return html`<div class="empty nothing"><b>${texts.nothingStored}</b><p class="note">${texts.nothingForToken}</p></div>`
  return html`<p class="empty">${texts.nothingStoredYet}</p>`
}

/** All columns of a new row, each with what it is for; later those that identify the row and say when it was used. */
function sessionView({ texts, language }: Stage, { kind, columns }: KeptRow) {
  const isNew = kind === 'new'
  const explanations: Readonly<Record<string, string>> = isNew ? texts.rowFields : {}
  const shown = Object.entries(columns).filter(
    ([name, value]) => value !== null && (isNew || mainColumns.includes(name)),
  )
  return html`<div class="thing row ${isNew ? 'is-new' : ''}">
    <h4>${texts.tables.session} ${isNew ? html`<span class="flag">${texts.kinds.new}</span>` : nothing}</h4>
    <dl class="columns">
      ${shown.map(
        ([name, value]) => html`<div>
        <dt>${name}</dt>
        <dd>
          <code class=${name === 'secret_hash' ? 'of-session' : ''}>${value}</code>
          ${isTime(value) ? html`<span class="note">${timeOf(value, language)}</span>` : nothing}
          ${explanations[name] ? html`<span class="note">${explanations[name]}</span>` : nothing}
        </dd>
      </div>`,
      )}
    </dl>
  </div>`
}

const mainColumns = ['secret_hash', 'username', 'last_seen_at']

/** A row that is no proof: only what is new in it. */
function changeView({ texts, language }: Stage, { table, kind, columns, changed, earlier }: KeptRow) {
  const titles: Readonly<Record<string, string>> = texts.tables
  const shown = changed.filter((name) => columns[name] !== null && !/_?id$/.test(name))
  return html`<div class="thing small">
    <h4><code>${table}</code> <span class="flag">${texts.kinds[kind]}</span></h4>
    <p class="note">${titles[table]}</p>
    <ul class="chips">
      ${shown.map((name) => {
        const display = (value: unknown) => (isTime(value) ? timeOf(value, language) : value)
        return html`<li>${name}: ${earlier === undefined ? nothing : html`${display(earlier[name])} → `}${display(columns[name])}</li>`
      })}
    </ul>
  </div>`
}
