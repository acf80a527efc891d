import { noSuchRoute } from '../basics/errors.ts'
import type { Guesses } from '../guessing/guesses.ts'
import { forUser } from '../http/operation.ts'
import { type PageNeeds, viewOf } from '../pages/page.ts'
import type { Deliveries } from './deliver.ts'

type Needs = PageNeeds & { guesses: Pick<Guesses, 'beginTestNotification'>; deliveries: Deliveries }

export const sendTest = forUser({
  summary: 'Send yourself a notification, at most ten an hour: to try a new service, while it has one user',
  refusals: ['NOT_FOUND', 'TOO_MANY_REQUESTS'],
  async handle(dependencies: Needs, request) {
    const { pages, guesses, deliveries } = dependencies
    if (!(await pages.hasOneUser())) throw noSuchRoute()
    const { userId } = request.caller
    await guesses.beginTestNotification(userId)
    const view = await viewOf(dependencies, request, await pages.readerOf(request.caller))
    const { title, body } = (await view.textsOf('service')).firstSteps.notification
    await deliveries.deliver('carillon', { recipients: [{ userId }], title, body, category: 'welcome' })
  },
})
