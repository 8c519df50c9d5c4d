"""A pack with previews, and with a tool that brings another along."""

PACK = '''
from lockgate import Tool, ToolDefinition, ToolResult, hookimpl
from lockgate.registry.previews import Preview

class Made(Tool):
    def __init__(self, name, **more):
        self.definition = ToolDefinition(name, {"type": "object", "properties": {}}, "Does it.", **more)
    async def execute(self, arguments, context):
        return ToolResult("done")

@hookimpl
def lockgate_previews():
    return [Preview("PRE_MAPS", "Maps\\x1b[2J"), Preview("PRE_SATELLITES", "Satellites", ("PRE_MAPS",))]

@hookimpl
def lockgate_tools():
    return [
        Made("search_wiki", companions=("read_page",)), Made("read_page"), Made("count_words"),
        Made("show_map", preview="PRE_MAPS"), Made("look_down", preview="PRE_SATELLITES"),
        Made("lost", preview="PRE_NOBODY"),
    ]
'''
