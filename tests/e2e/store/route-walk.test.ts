// Every route of the OpenAPI document works on both engines, on a database that was restored from a backup, and with SOAK=1 on one that
// was moved, which writes its rows as a restore does.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newDatabase } from '../../support/postgres.ts'
import { carillon, carillonJson, Folder } from '../../support/processes/carillon-process.ts'
import { Nodes } from '../../support/processes/nodes.ts'
import { publicUrl, walkRoutes } from '../../support/processes/route-walk.ts'
import { isSoak, soakTest } from '../../support/soak.ts'

// The first walk has each engine, too.
for (const [engine, other] of [
  ['sqlite', 'postgres'],
  ['postgres', 'sqlite'],
] as const)
  (engine === 'sqlite' ? test : soakTest)(
    `every route works on ${engine}, and on ${other} after a restore`,
    async (t) => {
      using folder = new Folder()
      const newUrl = async (of: string, name: string) => {
        if (of === 'sqlite') return `sqlite:${folder.file(`${name}.db`)}`
        const { url, drop } = await newDatabase({ isBare: true })
        t.after(drop)
        return url
      }
      const first = await newUrl(engine, 'first')
      const restored = await newUrl(other, 'restored')
      const moved = await newUrl(engine, 'moved')
      const command = async (settings: Record<string, string>, ...args: string[]) => {
        const { status, stdout, stderr } = await carillon(folder, args, { env: settings })
        assert.equal(status, 0, `${args.join(' ')}: ${stderr}`)
        return stdout
      }

      let key = ''
      const walk = async (url: string) => {
        await using nodes = new Nodes(url, { CARILLON_PUBLIC_URL: publicUrl })
        const node = await nodes.add()
        if (key === '') {
          const adding = ['key', 'add', 'walk', '--scope', 'send,users,webhooks']
          key = (await carillonJson(folder, adding, { env: nodes.environment })).key
        }
        const { calls, failures } = await walkRoutes(node.url, key)
        t.diagnostic(`${calls} calls`)
        assert.deepEqual(failures, [])
        const untidied = node.process.lines.filter(({ event }) => event === 'tidying-failed')
        assert.deepEqual(untidied, [])
        assert.equal((await node.process.end('SIGTERM')).status, 0)
        return nodes.environment
      }
      const env = await walk(first)
      await command(env, 'backup', folder.file('backup.carillon'))
      await command(
        { ...env, CARILLON_DATABASE_URL: restored },
        'restore',
        folder.file('backup.carillon'),
      )
      const restoredEnv = await walk(restored)
      if (!isSoak) return
      await command({ ...restoredEnv, CARILLON_TARGET_URL: moved }, 'move')
      await walk(moved)
    },
  )
