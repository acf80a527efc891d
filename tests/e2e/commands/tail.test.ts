// `carillon tail` beside a service that is used, stopped and started, and that revokes the proof (N6, S7).
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, before, suite, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../../support/network/free-port.ts'
import {
  CarillonProcess,
  carillon,
  Folder,
  firstSignInOf,
} from '../../support/processes/carillon-process.ts'
import { idIn, UserOfService } from '../../support/processes/user-of-service.ts'

type Line = {
  type: string
  position: string
  notification: { id: string; title: string }
  unread: number
}

const folder = new Folder()
const port = await freePort()
// The inbox has what the tests deliver, without a notification of a new device.
const settings = { env: { CARILLON_PORT: String(port), CARILLON_NEW_DEVICE_NOTICES: 'off' } }
let service: CarillonProcess
let operator: UserOfService
before(async () => {
  service = await CarillonProcess.ready(folder, settings)
  operator = new UserOfService(service.url, firstSignInOf(folder))
})
after(async () => {
  operator.close()
  await service[Symbol.asyncDispose]()
  folder[Symbol.dispose]()
})

function tailing(...args: string[]) {
  const env = { CARILLON_URL: `http://127.0.0.1:${port}` }
  const running = new CarillonProcess(folder, { args: ['tail', '--password-stdin', ...args], env })
  running.child.stdin?.end(`${firstSignInOf(folder).password}\n`)
  const printed = (): Line[] =>
    running.stdout
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line))
  const until = async (holds: (printed: Line[]) => boolean, withinMs = 60_000) => {
    const giveUpAt = performance.now() + withinMs
    while (!holds(printed())) {
      if (performance.now() > giveUpAt)
        assert.fail(`not printed:\n${running.stdout}${running.stderr}`)
      await sleep(10)
    }
    return printed()
  }
  const isLive = (all: Line[]) => all.some(({ type }) => type === 'hello')
  return Object.assign(running, { printed, until, live: () => until(isLive) })
}

suite('carillon tail', () => {
  test('prints existing notifications, then each change, as JSON lines; Ctrl-C ends it with status 0', async () => {
    await using running = tailing()
    await running.live()
    const id = idIn(await operator.deliver('Tea is ready'))
    await running.until((all) => all.some(({ type }) => type === 'created'))
    const proof = await operator.signIn()
    await operator.request({
      method: 'PATCH',
      path: `/api/notifications/${id}/read`,
      headers: proof,
    })
    const printed = await running.until((all) => all.some(({ type }) => type === 'read'))
    assert.deepEqual(
      printed.map(({ type }) => type),
      ['listed', 'hello', 'created', 'read'],
    )
    assert.deepEqual([printed[2]?.notification.id, printed[3]?.notification.id], [id, id])
    const { status } = await running.end('SIGINT')
    assert.deepEqual([status, running.stderr], [0, ''])
  })

  test('begins after --since, or with the number of notifications of --last', async () => {
    await using first = tailing('--last', '0')
    await first.live()
    await operator.deliver('One')
    await operator.deliver('Two')
    const [hello, one] = await first.until((printed) => printed.length === 3)
    assert.equal(hello?.type, 'hello')
    await using second = tailing('--since', one?.position ?? '')
    const [, two] = await second.until((printed) => printed.length === 2)
    assert.equal(two?.notification.title, 'Two')
  })

  test('continues within ten seconds after a restart of the service, and misses nothing (N6)', async () => {
    await using running = tailing('--last', '0')
    await running.live()
    await service.end('SIGTERM')
    service = await CarillonProcess.ready(folder, settings)
    const id = idIn(await operator.deliver('While it was away'))
    const printed = await running.until((all) =>
      all.some(({ notification }) => notification?.id === id),
    )
    assert.deepEqual(
      printed.map(({ type }) => type).filter((type) => type !== 'hello'),
      ['created'],
    )
  })

  test('follows a user of an application by external id, without a password, and send has everything that a delivery has', async () => {
    const of = ['--application', 'shop']
    assert.equal(
      (await carillon(folder, ['user', 'add', '--external-id', 'c-42', ...of])).status,
      0,
    )
    const made = await carillon(folder, ['key', 'add', 'shop', ...of, '--json'])
    const env = { CARILLON_URL: service.url, CARILLON_PRODUCER_KEY: JSON.parse(made.stdout).key }
    const sent = async (...args: string[]) => {
      const run = await carillon(folder, ['send', ...args, '--json'], { env })
      assert.deepEqual([run.status, run.stderr], [0, ''])
      return JSON.parse(run.stdout)
    }
    await using running = tailing('--external', 'c-42', ...of)
    await running.live()
    await sent(
      ...[
        '--external-id',
        'c-42',
        '--title',
        '{"en":"Bill","de":"Rechnung"}',
        '--body',
        '**7**',
        '--format',
        'markdown',
      ],
      ...['--actor', 'Ann', '--actor-image', '/ann.png', '--icon', 'money', '--key', 'bill-7'],
      ...['--action', '{"label":"Pay","url":"/pay"}', '--action', '{"label":"Ask","url":"/ask"}'],
      ...['--expires', '2100-01-01T00:00:00.000Z'],
    )
    assert.deepEqual(await sent('--update', 'bill-7', '--title', 'Paid', '--icon', '/paid.png'), {
      inboxes: 1,
    })
    assert.deepEqual(await sent('--resolve', 'bill-7'), { inboxes: 1 })
    assert.deepEqual(await sent('--withdraw', 'bill-7'), { inboxes: 1 })
    const printed = await running.until((all) => all.some(({ type }) => type === 'removed'))
    const [, created, replaced, ...more] = printed as unknown as Record<
      string,
      Record<string, unknown>
    >[]
    const { title, body, format, actor, icon, actions, expiresAt } = created?.notification ?? {}
    assert.deepEqual([title, body, format, icon], ['Bill', '**7**', 'markdown', 'money'])
    assert.deepEqual(actor, { name: 'Ann', imageUrl: '/ann.png' })
    const buttons = [
      { label: 'Pay', url: '/pay' },
      { label: 'Ask', url: '/ask' },
    ]
    assert.deepEqual([actions, expiresAt], [buttons, '2100-01-01T00:00:00.000Z'])
    assert.deepEqual(
      [replaced?.notification?.title, replaced?.notification?.icon],
      ['Paid', { imageUrl: '/paid.png' }],
    )
    assert.deepEqual(
      more.map(({ type }) => type),
      ['archived', 'removed'],
    )
    assert.equal((await running.end('SIGINT')).status, 0)
    const nobody = await carillon(folder, ['tail', '--external', 'c-42'], {
      env: { CARILLON_URL: service.url },
    })
    assert.deepEqual([nobody.status, nobody.stdout], [1, ''])
    assert.match(nobody.stderr, /^carillon: There is no user/)
    const both = await carillon(folder, ['send', '--to', 'operator', '--resolve', 'bill-7'], {
      env,
    })
    assert.equal(both.status, 2)
  })

  test('exits without an error if the reader of its output closes the pipe', async () => {
    await using running = tailing()
    await running.live()
    running.child.stdout?.destroy()
    await operator.deliver('Nobody reads this')
    const [status] = await once(running.child, 'exit')
    assert.deepEqual([status, running.stderr], [0, ''])
  })

  test('reports once that the user was disabled, and exits with status 1 (S7)', async () => {
    await using running = tailing('--last', '0')
    await running.live()
    // The last operator cannot be disabled.
    for (const args of [
      ['add', 'second'],
      ['role', 'second', 'operator'],
      ['disable', 'operator'],
    ])
      assert.equal((await carillon(folder, ['user', ...args])).status, 0, args.join(' '))
    const { status } = await running.isGone()
    assert.equal(status, 1)
    assert.match(
      running.stderr,
      /^carillon: The service refused the request: The username or the password is wrong: the proof is revoked\n$/,
    )
  })

  const wrong: Record<
    string,
    [args: string[], env: Record<string, string>, stdin: string, status: number, says: RegExp]
  > = {
    'a wrong password': [
      ['--password-stdin'],
      {},
      'wrong',
      1,
      /The username or the password is wrong/,
    ],
    'no terminal to ask on': [[], {}, '', 2, /use --password-stdin/],
    'a count that is none': [['--last', 'all'], {}, '', 2, /a whole number from 0 to 100/],
    'no service': [
      ['--password-stdin'],
      { CARILLON_URL: 'http://127.0.0.1:1' },
      'x',
      1,
      /No service answers at/,
    ],
  }
  for (const [name, [args, env, stdin, expected, says]] of Object.entries(wrong))
    test(`with ${name} it ends with status ${expected} and says why`, async () => {
      const at = { CARILLON_URL: `http://127.0.0.1:${port}`, ...env }
      const { status, stdout, stderr } = await carillon(folder, ['tail', ...args], {
        env: at,
        stdin,
      })
      assert.deepEqual([status, stdout], [expected, ''])
      assert.match(stderr, says)
    })
})
