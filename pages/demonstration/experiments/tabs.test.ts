// Two tabs of the demonstration know of each other, and of an experiment that runs in the other one.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { Tabs } from './tabs.ts'

/** Resolves when the condition holds; each message of the channel is a chance. */
async function until(holds: () => boolean, changes: EventTarget): Promise<void> {
  while (!holds()) await once(changes, 'changed')
}

function openTab(id: string, name: string) {
  const changes = new EventTarget()
  const tabs = new Tabs({ name, id, changed: () => changes.dispatchEvent(new Event('changed')) })
  return { tabs, until: (holds: (one: Tabs) => boolean) => until(() => holds(tabs), changes) }
}

test('both tabs know of each other until one is left', async () => {
  const [one, other] = [openTab('one', 'tabs'), openTab('other', 'tabs')]
  await one.until(({ hasOther }) => hasOther)
  await other.until(({ hasOther }) => hasOther)
  other.tabs.close()
  await one.until(({ hasOther }) => !hasOther)
  one.tabs.close()
})

test('a tab knows of an experiment in another one, also if that began before the tab was opened', async () => {
  const one = openTab('one', 'running')
  one.tabs.isRunning = true
  const other = openTab('other', 'running')
  await other.until(({ isOtherRunning }) => isOtherRunning)
  one.tabs.isRunning = false
  await other.until(({ isOtherRunning }) => !isOtherRunning)
  assert.equal(other.tabs.hasOther, true)
  one.tabs.close()
  other.tabs.close()
})

test('a tab that comes back by the history of the browser asks again', async () => {
  const [one, other] = [openTab('one', 'back'), openTab('other', 'back')]
  await one.until(({ hasOther }) => hasOther)
  one.tabs.leave()
  await other.until(({ hasOther }) => !hasOther)
  one.tabs.comeBack()
  assert.equal(one.tabs.hasOther, false)
  await one.until(({ hasOther }) => hasOther)
  await other.until(({ hasOther }) => hasOther)
  one.tabs.close()
  other.tabs.close()
})
