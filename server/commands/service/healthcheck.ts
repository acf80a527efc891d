import { Command } from 'commander'
import { messageOf, unavailable } from '../../basics/errors.ts'
import { configOf, directUrl, withSettings } from '../settings.ts'
import { type Output, print, WrongUse } from '../terminal/output.ts'

export function makeCommand(): Command {
  const command = new Command('healthcheck').description(
    'Exit with 0 if the service on this machine is ready, else 1',
  )
  return withSettings(command).action(healthcheck)
}

async function healthcheck(options: Output, command: Command): Promise<void> {
  const url = directUrl(configOf(command))
  if (url === undefined)
    throw new WrongUse('CARILLON_PORT is 0: name the port on which the service listens')
  try {
    const { status } = await fetch(`${url}/readyz`, {
      signal: AbortSignal.timeout(3_000),
      redirect: 'error',
    })
    if (status !== 200) throw new Error(`the response is ${status}`)
  } catch (error) {
    const { cause = error } = error as Error
    throw unavailable(`${url}/readyz is not ready: ${messageOf(cause)}`)
  }
  print(options, { status: 'ready' }, () => 'ready')
}
