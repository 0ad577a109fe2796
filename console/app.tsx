// A first page: a frame, and the kinds of component that put style elements into the page.

import {
  AppShell,
  Button,
  Group,
  MantineProvider,
  Menu,
  Modal,
  Select,
  Stack,
  Text,
  Title,
  Tooltip,
} from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { Notifications, notifications } from "@mantine/notifications";
import { Spotlight, spotlight } from "@mantine/spotlight";
import { styleNonce } from "./nonce.ts";

/** The whole application. */
export function App() {
  return (
    <MantineProvider defaultColorScheme="auto" getStyleNonce={styleNonce}>
      <Notifications />
      <Spotlight actions={[{ id: "home", label: "Home" }]} />
      <Page />
    </MantineProvider>
  );
}

function Page() {
  const [opened, { open, close }] = useDisclosure(false);
  return (
    <AppShell header={{ height: { base: 48, sm: 56 } }} padding="md">
      <AppShell.Header>
        <Group h="100%" px="md">
          <Title order={3}>arborgate</Title>
        </Group>
      </AppShell.Header>
      <AppShell.Main>
        <Stack>
          <Text>The console is being built.</Text>
          <Group>
            <Button onClick={open}>Dialog</Button>
            <Button onClick={() => notifications.show({ message: "Done" })}>Notification</Button>
            <Button onClick={spotlight.open}>Search</Button>
            <Tooltip label="A word more">
              <Button>Hint</Button>
            </Tooltip>
            <Menu>
              <Menu.Target>
                <Button>Menu</Button>
              </Menu.Target>
              <Menu.Dropdown>
                <Menu.Item>Entry</Menu.Item>
              </Menu.Dropdown>
            </Menu>
          </Group>
          <Select label="Model" data={["one", "two"]} maw={{ base: 200, sm: 300 }} />
        </Stack>
        <Modal opened={opened} onClose={close} title="A dialog">
          <Text>It can be closed.</Text>
        </Modal>
      </AppShell.Main>
    </AppShell>
  );
}
