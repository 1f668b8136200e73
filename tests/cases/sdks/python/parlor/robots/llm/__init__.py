from .talk_context import TalkEntry, TalkMessage, TalkRole, ToolUse
