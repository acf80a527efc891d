// Somebody removes, renames, replaces or overwrites the file of a running service: the next start
// finds everything acknowledged, the process ends with one sentence, and the new file stays
// undamaged (R1, R6). A write-ahead log is applied to its own file and no other.
import assert from 'node:assert/strict'
import {
  closeSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeSync,
} from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { after, suite, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  CarillonProcess,
  carillon,
  Folder,
  firstSignInOf,
} from '../../support/processes/carillon-process.ts'
import { untilSo } from '../../support/processes/nodes.ts'
import { UserOfService } from '../../support/processes/user-of-service.ts'
import type { Proof } from '../../support/service.ts'

const welcome = 'Welcome to Carillon'
const first = Array.from({ length: 5 }, (_, n) => `first ${n}`)
const second = [...first, ...Array.from({ length: 5 }, (_, n) => `second ${n}`)]

class Running implements AsyncDisposable {
  readonly folder: Folder
  readonly process: CarillonProcess
  readonly user: UserOfService
  readonly kept: string[]

  private constructor(folder: Folder, process: CarillonProcess, kept: string[]) {
    this.folder = folder
    this.process = process
    this.user = new UserOfService(process.url, firstSignInOf(folder))
    this.kept = kept
  }

  /**
   * The service continues the model. Three copies lie beside it: of a stopped service, a restored
   * backup, and a vacuumed copy.
   */
  static async on(folder: Folder): Promise<Running> {
    cpSync((await model).path, folder.path, { recursive: true })
    const running = await Running.start(folder, first)
    await running.deliver('second', 5)
    const copied = await carillon(folder, ['backup', folder.file('copies/backup')])
    assert.equal(copied.status, 0, copied.stderr)
    const url = `sqlite:${folder.file('copies/restored')}`
    const restored = await carillon(folder, ['restore', folder.file('copies/backup'), '--to', url])
    assert.equal(restored.status, 0, restored.stderr)
    const database = new DatabaseSync(folder.file('carillon.db'))
    database.exec(`vacuum into '${folder.file('copies/vacuumed')}'`)
    database.close()
    await running.deliver('third', 40)
    // Until the file has the stamp of this process, the copy of the stopped service is identical to
    // it.
    await untilSo(async () => {
      const { stamps } = JSON.parse(readFileSync(folder.file('carillon.identity'), 'utf8'))
      return stamps[0] === stamps[2]
    })
    return running
  }

  static async start(folder: Folder, kept: string[]): Promise<Running> {
    return new Running(folder, await CarillonProcess.ready(folder), [...kept])
  }

  async deliver(title: string, times: number): Promise<void> {
    for (let n = 0; n < times; n += 20)
      await Promise.all(
        Array.from({ length: Math.min(20, times - n) }, async (_, i) => {
          const name = `${title} ${n + i}`
          // A second attempt if the service has just closed the idle connection.
          const send = () => this.user.deliver(name, name.replace(' ', '-'))
          const response = await send().catch(send)
          assert.equal(response.status, 201, response.text)
          this.kept.push(name)
        }),
      )
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.user.close()
    await this.process[Symbol.asyncDispose]()
  }
}

const model = (async () => {
  const folder = new Folder()
  await using running = await Running.start(folder, [])
  await running.deliver('first', 5)
  await running.process.end('SIGTERM')
  mkdirSync(folder.file('copies'))
  copyFileSync(folder.file('carillon.db'), folder.file('copies/of a stop'))
  return folder
})()
after(async () => (await model)[Symbol.dispose]())

async function titlesIn(folder: Folder): Promise<{ titles: string[]; log: string }> {
  await using running = await CarillonProcess.ready(folder)
  const user = new UserOfService(running.url, firstSignInOf(folder))
  const titles = (await user.inbox(await user.signIn())).map(({ title }) => title)
  assert.equal((await user.deliver('After the restart')).status, 201)
  user.close()
  assert.deepEqual((await running.end('SIGTERM')).status, 0)
  const database = new DatabaseSync(folder.file('carillon.db'))
  assert.deepEqual(
    { ...database.prepare('pragma integrity_check').get() },
    { integrity_check: 'ok' },
  )
  database.close()
  return { titles: titles.filter((title) => title !== welcome).sort(), log: running.stdout }
}

const hows = ['a write', 'the check', 'kill -9'] as const
type How = (typeof hows)[number]

/**
 * Says what the process says after one change of the file, and what the next start finds, or why it
 * refuses.
 */
type Change = {
  what: string
  change: (folder: Folder) => void
  says: RegExp
  finds: string[] | RegExp
  /**
   * If not all notice it: a read from moved pages does not find the producer key, and a killed
   * process checks nothing (decision 0068).
   */
  noticedBy?: readonly How[]
}
const put = (copy: string) => (folder: Folder) => {
  copyFileSync(folder.file(`copies/${copy}`), folder.file('new'))
  renameSync(folder.file('new'), folder.file('carillon.db'))
}
const overwrite = (copy: string) => (folder: Folder) =>
  copyFileSync(folder.file(`copies/${copy}`), folder.file('carillon.db'))
const changes: Change[] = [
  {
    what: 'removed',
    change: (folder) => rmSync(folder.file('carillon.db')),
    says: /carillon\.db was removed or renamed/,
    finds: /carillon\.db is gone, but .* is still there/,
  },
  {
    what: 'moved away, and another one put there',
    change: (folder) => {
      renameSync(folder.file('carillon.db'), folder.file('old'))
      copyFileSync(folder.file('copies/of a stop'), folder.file('carillon.db'))
    },
    says: /carillon\.db was replaced/,
    finds: first,
  },
  {
    what: 'replaced by a copy of a stop',
    change: put('of a stop'),
    says: /was replaced/,
    finds: first,
  },
  {
    what: 'replaced by a restored backup',
    change: put('restored'),
    says: /was replaced/,
    finds: second,
  },
  {
    what: 'replaced by a vacuumed copy',
    change: put('vacuumed'),
    says: /was replaced/,
    finds: second,
  },
  {
    what: 'overwritten with a copy of a stop',
    change: overwrite('of a stop'),
    says: /was overwritten/,
    finds: first,
  },
  {
    what: 'overwritten with a vacuumed copy',
    change: overwrite('vacuumed'),
    says: /was overwritten/,
    finds: second,
    noticedBy: ['the check'],
  },
  {
    what: 'truncated',
    change: (folder) => truncateSync(folder.file('carillon.db'), 8_192),
    says: /was overwritten/,
    finds: /carillon\.db is (truncated|damaged)/,
    noticedBy: ['the check'],
  },
  {
    what: 'overwritten with a restored backup',
    change: overwrite('restored'),
    says: /was overwritten/,
    finds: second,
  },
]

suite('the database file while the service runs', { concurrency: 2 }, () => {
  for (const { what, change, says, finds, noticedBy = hows } of changes)
    for (const how of noticedBy)
      test(`${what}, noticed by ${how}: the file at the path loses nothing (R1, R6)`, async () => {
        using folder = new Folder()
        await using running = await Running.on(folder)
        change(folder)
        if (how === 'kill -9') await running.process.end('SIGKILL')
        else await assertProcessEnds(running, { says, isWriting: how === 'a write' })
        if (finds instanceof RegExp) {
          const { status, stderr } = await carillon(folder, ['serve'])
          assert.equal(status, 1)
          assert.match(stderr, finds)
          return
        }
        const { titles, log } = await titlesIn(folder)
        assert.deepEqual(titles, finds.toSorted())
        assert.match(
          log,
          /belongs to another database file.*carillon\.db-wal\.from-another-database-2/,
        )
        assert.ok(
          readdirSync(folder.path).some((name) =>
            name.startsWith('carillon.db-wal.from-another-database-'),
          ),
        )
      })
})

async function assertProcessEnds(
  { process, user }: Running,
  { says, isWriting }: { says: RegExp; isWriting: boolean },
) {
  // Reads of a file that has shrunk can end the process by a signal, so none is made here.
  if (isWriting) {
    const refused = await Promise.all(Array.from({ length: 5 }, () => user.deliver('Never')))
    for (const { status, text } of refused) {
      assert.equal(status, 503, text)
      assert.match(text, /The store cannot be written|The store went away/)
    }
    // The process ends half a second later; on a slow machine, that is before this request.
    const notReady = await user.request({ path: '/readyz' }).catch(() => undefined)
    assert.equal(notReady?.status ?? 503, 503)
  }
  assert.deepEqual(await process.isGone(), { status: 1, signal: null })
  const fatal = process.lines.filter(({ level }) => level === 60)
  assert.equal(fatal.length, 1, process.stdout)
  assert.match(fatal[0]?.msg ?? '', says)
  assert.doesNotMatch(JSON.stringify(fatal), /Error|node:/)
}

test('when the log is removed while the service runs, it ends with status 1 and nothing is lost (R1)', async () => {
  using folder = new Folder()
  await using running = await Running.on(folder)
  rmSync(folder.file('carillon.db-wal'))
  assert.deepEqual(await running.process.isGone(), { status: 1, signal: null })
  assert.match(running.process.stdout, /carillon\.db-wal was removed or replaced/)
  assert.deepEqual((await titlesIn(folder)).titles, running.kept.toSorted())
})

/** A checkpoint of the database in `folder` would write this page first. */
function firstPageAfterCheckpoint(folder: Folder): Buffer {
  using copied = new Folder()
  for (const name of ['carillon.db', 'carillon.db-wal'])
    copyFileSync(folder.file(name), copied.file(name))
  const database = new DatabaseSync(copied.file('carillon.db'))
  database.exec('pragma wal_checkpoint(truncate)')
  database.close()
  return readFileSync(copied.file('carillon.db')).subarray(0, 4_096)
}

test('an unfinished or killed checkpoint of another process is not reported as a loss of the file (R1)', async () => {
  using folder = new Folder()
  await using running = await Running.on(folder)
  // A checkpoint writes the first page first. If the log has added pages, that page counts pages that the file does not have yet.
  let page = firstPageAfterCheckpoint(folder)
  for (let n = 0; page.readUInt32BE(28) * 4_096 <= statSync(folder.file('carillon.db')).size; n++) {
    assert.ok(n < 20, 'no delivery added a page')
    await running.deliver(`more${n}`, 20)
    page = firstPageAfterCheckpoint(folder)
  }
  const file = openSync(folder.file('carillon.db'), 'r+')
  writeSync(file, page, 0, page.length, 0)
  closeSync(file)
  await running.deliver('fourth', 20)
  await sleep(2_500)
  await running.deliver('fifth', 20)
  await running.process.end('SIGKILL')
  assert.deepEqual((await titlesIn(folder)).titles, running.kept.toSorted())
  assert.ok(!readdirSync(folder.path).some((name) => name.includes('from-another-database')))
})

test('a database that is copied with its log after kill -9, and moved, keeps the writes of the log (R1)', async () => {
  using folder = new Folder()
  await using running = await Running.on(folder)
  await running.process.end('SIGKILL')
  using copied = new Folder()
  cpSync(folder.path, copied.path, { recursive: true })
  using bare = new Folder()
  for (const name of ['carillon.db', 'carillon.db-wal', 'carillon.secret', 'first-sign-in.txt'])
    copyFileSync(folder.file(name), bare.file(name))
  // A file that was moved away and back is the same file.
  renameSync(folder.file('carillon.db'), folder.file('away'))
  renameSync(folder.file('away'), folder.file('carillon.db'))
  for (const place of [copied, bare, folder]) {
    assert.deepEqual((await titlesIn(place)).titles, running.kept.toSorted())
    assert.ok(!readdirSync(place.path).some((name) => name.includes('from-another-database')))
  }
})

/** A position in the changes of the inbox, as a client stores it. */
async function positionOf({ user }: Running, proof: Proof): Promise<string> {
  const { version } = (await user.request({ path: '/api/notifications', headers: proof })).json()
    .data
  const { position } = (
    await user.request({ path: `/api/notifications/changes?since=${version}`, headers: proof })
  ).json().data
  return position
}

async function isReset(folder: Folder, position: string): Promise<boolean> {
  await using running = await CarillonProcess.ready(folder)
  const user = new UserOfService(running.url, firstSignInOf(folder))
  const headers = await user.signIn()
  const response = await user.request({
    path: `/api/notifications/changes?since=${position}`,
    headers,
  })
  user.close()
  await running.end('SIGTERM')
  assert.equal(response.status, 200, response.text)
  return response.json().data.reset === true
}

test('a position stays valid after a restart and kill -9, and is reset after an older file was put back (N3, R15)', async () => {
  using folder = new Folder()
  await using running = await Running.on(folder)
  const given = await positionOf(running, await running.user.signIn())
  await running.process.end('SIGKILL')
  assert.equal(await isReset(folder, given), false)
  assert.equal(await isReset(folder, given), false)
  for (const back of [overwrite('of a stop'), put('restored'), overwrite('vacuumed')]) {
    await deliverMany(folder, 60)
    back(folder)
    await deliverMany(folder, 60)
    assert.equal(await isReset(folder, given), true)
  }
})

test('a log that is gone after kill -9 is one warn line, a fault of doctor, and a reset for a client that is ahead (R15)', async () => {
  using folder = new Folder()
  await using running = await Running.on(folder)
  const given = await positionOf(running, await running.user.signIn())
  await running.process.end('SIGKILL')
  rmSync(folder.file('carillon.db-wal'))
  const faultsOfDoctor = async () => {
    const { stdout } = await carillon(folder, ['doctor', '--json'])
    const { findings } = JSON.parse(stdout) as { findings: { check: string; state: string }[] }
    return findings.filter(({ check, state }) => check === 'log' && state === 'fault').length
  }
  assert.equal(await faultsOfDoctor(), 1)
  await using again = await CarillonProcess.ready(folder)
  const lines = again.lines.filter(({ event }) => event === 'log-missing')
  assert.equal(lines.length, 1, again.stdout)
  assert.equal(lines[0]?.level, 40)
  assert.ok(Date.parse(String(lines[0]?.lastCheckpoint)) <= Date.now())
  await again.end('SIGTERM')
  assert.equal(await faultsOfDoctor(), 1)
  assert.equal(await isReset(folder, given), true)
})

/** Delivers until the versions from before are reached again, by other changes. */
async function deliverMany(folder: Folder, times: number): Promise<void> {
  await using running = await CarillonProcess.ready(folder)
  const user = new UserOfService(running.url, firstSignInOf(folder))
  await Promise.all(Array.from({ length: times }, (_, n) => user.deliver(`other ${n}`)))
  user.close()
  await running.end('SIGTERM')
}
