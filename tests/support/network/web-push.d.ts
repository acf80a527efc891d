// What a test uses of the package web-push, whose types are three packages more.
declare module 'web-push' {
  type Subscription = { endpoint: string; keys: { p256dh: string; auth: string } }
  type Options = {
    vapidDetails: { subject: string; publicKey: string; privateKey: string }
    TTL: number
    topic?: string | undefined
    urgency: 'low' | 'normal' | 'high'
  }
  type Details = { headers: Record<string, string | number>; body?: Buffer }
  const webPush: {
    generateVAPIDKeys(): { publicKey: string; privateKey: string }
    generateRequestDetails(to: Subscription, payload: string, options: Options): Details
  }
  export = webPush
}
