import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { Worker } from 'node:worker_threads'
import { World } from '../../../contract/world.ts'
import { openStore } from '../../../open-store.ts'
import { newFolder } from './folder.ts'

export async function openWorld(t: TestContext, path?: string) {
  const file = path ?? join(await newFolder(t), 'carillon.db')
  const threads: Worker[] = []
  const note = (message: unknown) => threads.push((message as { worker: Worker }).worker)
  subscribe('worker_threads', note)
  const { store } = await openStore({ engine: 'sqlite', path: file })
  unsubscribe('worker_threads', note)
  const [writer = assert.fail('there is no writer thread')] = threads
  return {
    path: file,
    world: await World.on(store),
    store,
    writer,
    [Symbol.asyncDispose]: () => store.close(),
  }
}
