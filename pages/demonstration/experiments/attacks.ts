// Two attacks from the browser: a script in the page that looks for the proof, and a page of another site that sends a form.
import { cookieSentBy, fieldOf } from '../proof-parts.ts'
import type { Exchange, Lane, World } from '../world.ts'
import { type Experiment, type Fact, factOf, lineOf, type Measured } from './experiment.ts'
import { presentIn, signIn } from './lanes.ts'

export const script: Experiment = {
  id: 'script',
  async run(world) {
    await signIn(world)
    return { session: await lookForCookie(world), token: await lookForToken(world) }
  },
}

/** Of cookies, a script sees `document.cookie`. */
async function lookForCookie(world: World): Promise<Measured> {
  const readable = document.cookie
  const isThere = readable.split('; ').some((pair) => pair.startsWith(`${world.visit?.cookieName}=`))
  const found: Fact = { label: 'cookiesOfScript', value: readable || '""' }
  const used = factOf('usedByScript', await presentIn(world, 'session'))
  return { answer: isThere ? 'yes' : 'no', facts: [found, used] }
}

/** Does what a foreign script can do: another function in the place of `fetch` sees the next request of the page. */
async function lookForToken(world: World): Promise<Measured> {
  const original = globalThis.fetch
  let authorization = ''
  globalThis.fetch = (input, init) => {
    authorization ||= new Headers(init?.headers).get('authorization') ?? ''
    return original(input, init)
  }
  try {
    const used = factOf('usedByScript', await presentIn(world, 'token'))
    const found: Fact = { label: 'fieldOfScript', value: `"${authorization.slice(0, 30)}…"` }
    return { answer: authorization === '' ? 'no' : 'yes', facts: [found, used] }
  } finally {
    globalThis.fetch = original
  }
}

export const otherSite: Experiment = {
  id: 'otherSite',
  async run(world, stage) {
    await signIn(world)
    await world.control('deliver', { title: 'Carillon' })
    const before = await unread(world)
    const address = `other-site?target=read-all&visit=${world.visit?.id}`
    const form = await stage.inFrame(address, () => formAfter(world, before.n))
    const after = await unread(world)
    const acted = isSuccess(form) && after.count < before.count
    const counted: Fact = { label: 'unread', value: `${before.count}, ${after.count}` }
    return {
      session: sentWith('session', form, acted, counted, world),
      token: sentWith('token', form, acted, counted, world),
    }
  },
}

/** The form is one request. It did something in a lane if it had the proof of that lane, and worked. */
function sentWith(lane: Lane, form: Exchange, acted: boolean, counted: Fact, { visit }: World): Measured {
  const isSession = lane === 'session'
  const proof = isSession ? cookieSentBy(form, visit?.cookieName ?? '') : fieldOf(form, 'authorization')
  const sent: Fact = { label: 'formSent', line: lineOf(form.request), status: statusOf(form), exchange: form }
  const found: Fact = { label: isSession ? 'formCookie' : 'formToken', value: proof === undefined ? '""' : '"…"' }
  return { answer: acted && proof !== undefined ? 'yes' : 'no', facts: [sent, found, counted] }
}

async function unread(world: World): Promise<{ n: number; count: number }> {
  const { data, exchange } = await world.send('session', { method: 'GET', path: '/api/notifications/counts' })
  return { n: exchange.n, count: (data as { unread: number }).unread }
}

/** The page cannot read the response in the frame, so the server is asked until it has the form. */
async function formAfter(world: World, n: number): Promise<Exchange> {
  let first = n
  for (let attempt = 0; attempt < 40; attempt++) {
    const last = (await unread(world)).n
    for (let between = first + 1; between < last; between++) {
      const exchange = await world.exchange(between)
      if (exchange.request.line.includes('/read-all')) return exchange
    }
    first = last
    await new Promise((resolve) => setTimeout(resolve, 250))
  }
  throw new Error('the server got no form of the other site')
}

/** 401 of a status line such as `HTTP/1.1 401 Unauthorized`. */
const statusOf = ({ response }: Exchange) => Number(/ (\d{3})\b/.exec(response.line)?.[1])
const isSuccess = (exchange: Exchange) => statusOf(exchange) < 300
