// Experiments of the demonstration in a real browser, against the real service: what the page says it measured is what the browser
// received, what the server has in its transcript, and what a recording proxy saw. SOAK=1: all nine.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Answer, ExperimentId } from '../../../pages/demonstration/experiments/experiment.ts'
import { startBehindPath } from '../../support/network/stripping-proxy.ts'
import { type BrowserPage, BrowserPages } from '../../support/pages/browser-page.ts'
import { ExperimentsPage, type Lane, type Line } from '../../support/pages/experiments-page.ts'
import { RecordingProxy } from '../../support/pages/walk-page.ts'
import { startTestService } from '../../support/service.ts'

const service = await startTestService()
const proxy = await RecordingProxy.to(service.url)
const pages = await BrowserPages.start({ service, url: proxy.url })
const behindPath = await startBehindPath('/bell', { CARILLON_PAGES_PREFIX: '/hello' })
const pagesBehindPath = await BrowserPages.start({ service: behindPath.service, url: behindPath.url })
after(async () => {
  await pages[Symbol.asyncDispose]()
  await proxy[Symbol.asyncDispose]()
  await pagesBehindPath.browser[Symbol.asyncDispose]()
  await behindPath.stop()
})

const restricted = (status: number): Line => ({ line: 'GET /routeRestreinte', status })
const signOut: Line = { line: 'POST /logout', status: 204 }
const list = (status: number): Line => ({ line: 'GET /api/notifications', status })
const form: Line = { line: 'POST /api/notifications/read-all', status: 401 }

type Expected = Record<Lane, { answer: Answer; lines: Line[] }>

/** What the service promises: a session ends at once, and so does a token at this service. */
const expected: Record<ExperimentId, Expected> = {
  replay: both('no', [restricted(200), signOut, restricted(401)]),
  revokeAll: both('no', [restricted(200), restricted(401)]),
  changeCharacter: both('no', [restricted(200), restricted(401)]),
  restart: both('yes', [restricted(200), restricted(200)]),
  expiry: {
    session: { answer: 'yes', lines: [restricted(200), restricted(200), restricted(401)] },
    token: { answer: 'no', lines: [restricted(200), restricted(401), restricted(401)] },
  },
  script: {
    session: { answer: 'no', lines: [restricted(200)] },
    token: { answer: 'yes', lines: [restricted(200)] },
  },
  otherSite: both('no', [form]),
  offline: { session: { answer: 'no', lines: [] }, token: { answer: 'yes', lines: [] } },
  outage: {
    session: { answer: 'no', lines: [restricted(200), restricted(503), list(503), restricted(200)] },
    token: { answer: 'yes', lines: [restricted(200), restricted(200), list(503), restricted(200)] },
  },
}

/** What the browser writes beside the refusals: the response to the form may not be in a frame. */
const complaints: Partial<Record<ExperimentId, RegExp[]>> = {
  // Which of these the browser reports depends on how fast the frame is removed.
  otherSite: [/^(401|net::ERR_BLOCKED_BY_RESPONSE) POST .*\/read-all$|^Framing .* "frame-ancestors 'none'"/],
}

function both(answer: Answer, lines: Line[]): Expected {
  return { session: { answer, lines }, token: { answer, lines } }
}

/** Those that need a browser: for its cookies, for the form of another site, and for a page that is offline. */
const inBrowser = ['replay', 'otherSite', 'offline'] as const
const all = Object.keys(expected) as ExperimentId[]
const opposite = (answer: Answer): Answer => (answer === 'yes' ? 'no' : 'yes')

for (const id of process.env.SOAK === undefined ? inBrowser : all)
  test(`experiment ${id}: both lanes show what was on the wire, byte by byte, beside the prediction`, async () => {
    await using opened = await pages.open('/demonstration')
    const experiments = await runs(opened, id)
    const messages = await experiments.messages(id)
    const shown = expected[id].session.lines.length + expected[id].token.lines.length
    assert.equal(messages.length, 2 * shown, 'each line has its request and its response')
    for (const [at, message] of messages.entries())
      assert.ok(proxy.saw(at % 2 === 0 ? 'to server' : 'to client', message), message.head.join('\n'))
  })

for (const id of process.env.SOAK === undefined ? (['replay'] as const) : inBrowser)
  test(`experiment ${id} measures the same behind a proxy that strips a path, with a prefix for the pages`, async () => {
    await using opened = await pagesBehindPath.open('/hello/demonstration')
    await runs(opened, id)
  })

/** Predicts right for the session and wrong for the token. */
async function runs(opened: BrowserPage, id: ExperimentId): Promise<ExperimentsPage> {
  const experiments = new ExperimentsPage(opened.page)
  const { session, token } = expected[id]
  await experiments.predict(id, { session: session.answer, token: opposite(token.answer) })
  await experiments.start(id)
  const result = await experiments.result(id)

  assert.match((await result.locator('.lane-session').textContent()) ?? '', /You predicted this/)
  assert.match((await result.locator('.lane-token').textContent()) ?? '', /You predicted: /)
  for (const lane of ['session', 'token'] as const)
    assert.deepEqual(await experiments.lines(id, lane), expected[id][lane].lines, lane)
  await isInTranscript(experiments, id)
  await opened.hasFocus('Result')
  const refused = [...session.lines, ...token.lines].filter((one) => one.status >= 400 && one !== form)
  opened.expects(...refused.map(({ line, status }) => new RegExp(`^${status} ${line.replace(' /', ' .*/')}$`)))
  opened.expects(...(complaints[id] ?? []))
  return experiments
}

/** Each displayed exchange is one that the browser saw, and the server's record of it has the same first lines. */
async function isInTranscript(experiments: ExperimentsPage, id: ExperimentId): Promise<void> {
  const recorded: Line[] = []
  for (const [n, seen] of experiments.seen) {
    const { request, response } = await experiments.exchange(n)
    const line = request.line.replace(/ \S*\/demonstration\/service/, ' ').replace(/\?.*| HTTP\/.*/, '')
    const status = Number(response.line.split(' ')[1])
    assert.deepEqual({ line, status }, seen, `exchange ${n}`)
    recorded.push({ line, status })
  }
  for (const lane of ['session', 'token'] as const)
    for (const shown of await experiments.lines(id, lane))
      assert.ok(
        recorded.some(({ line, status }) => line === shown.line && status === shown.status),
        `${lane}: ${shown.line} ${shown.status} is not in the transcript`,
      )
}
