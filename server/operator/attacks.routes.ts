import { yieldToEventLoop } from '../basics/event-loop.ts'
import { hourMs } from '../metrics/hourly.ts'
import { refusalsByAddress, refusalsByHour } from './attacks.store.ts'
import * as shapes from './operator.schemas.ts'
import { forOperator, type OperatorNeeds, sendVisible } from './operator.ts'

const days = 28
const dayHours = 24

export const attacks = forOperator({
  summary: 'Refused sign-ins of 28 days by hour, and the addresses with the most of them',
  responses: { 200: shapes.AttacksResponse },
  async handle({ store, users }: OperatorNeeds, _, reply) {
    const end = Math.ceil(users.now() / (dayHours * hourMs)) * dayHours
    const begin = end - days * dayHours
    const hours: { at: number; refusals: number }[] = []
    for (let from = begin; from < end; from += dayHours) {
      const found = await store.read(refusalsByHour, { from, to: from + dayHours })
      hours.push(...found.map(({ hour, refusals }) => ({ at: hour * hourMs, refusals })))
      await yieldToEventLoop()
    }
    const addresses = await store.read(refusalsByAddress, begin * hourMs)
    return sendVisible(reply, { since: begin * hourMs, hours, addresses })
  },
})
